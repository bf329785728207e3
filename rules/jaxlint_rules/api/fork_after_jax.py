"""Processes that are forked after JAX has started its threads."""

from __future__ import annotations

from jaxlint.api import CallEvent, Frame, Module, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import ExternalMethod, ExternalObject, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument

_CONTEXTS = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
_STARTING = frozenset({"Pool", "Process"})
# They fork by default: on Linux, up to Python 3.13.
_BY_DEFAULT = frozenset(
    [
        *("multiprocessing.Pool", "multiprocessing.Process", "multiprocessing.pool.Pool"),
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
    ]
)
_SETTINGS = frozenset({"multiprocessing.set_start_method", "torch.multiprocessing.set_start_method"})
_STARTS_JAX = frozenset(
    ["jax.devices", "jax.local_devices", "jax.device_count", "jax.local_device_count", "jax.default_backend"]
)


class ForkAfterJax(Rule):
    """A process is forked after JAX has started its threads.

    ## What it does
    Finds `os.fork()`, processes of `multiprocessing.get_context("fork")`, and pools and processes
    without a start method, after JAX operations in the same run.

    ## Why is this bad?
    JAX is multithreaded. A fork copies the locks that its threads hold but not the threads, so the
    child may deadlock. JAX warns:
    `os.fork() is incompatible with multithreaded code, and JAX is multithreaded`. Up to Python
    3.13, `multiprocessing.Pool` and `ProcessPoolExecutor` fork by default on Linux.

    ## Example
    ```python
    device = jnp.ones(3).devices()
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(simulate, seeds)
    ```

    ## Use instead
    ```python
    device = jnp.ones(3).devices()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(simulate, seeds)
    ```

    ## Fix safety
    There is no automatic fix: a spawned process imports the program again.

    ## When not to fix
    There is one finding per file, since one start method fixes them all. Keep it if the child
    immediately runs another program, as `subprocess` does. Programs that set a start method, or that
    run only on Python 3.14 or macOS, do not fork by default.

    ## References
    - [multiprocessing: start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
    """

    code = "JAX817"
    name = "fork-after-jax"
    category = "api"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.run: Frame | None = None  # the outermost call of the run in which JAX computed last
        self.files: set[Module] = set()  # in which it computed
        self.chosen = False  # the program sets a start method
        self.by_default: list[CallEvent] = []

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if not event.frame.stage.staged:
            self.start(event.frame)

    def start(self, frame: Frame) -> None:
        """Records that JAX has run on the host."""
        self.run = _outermost(frame)
        self.files.add(frame.module)

    @concerns(
        "os.fork", *_BY_DEFAULT, *_SETTINGS, *_STARTS_JAX, callees=("ExternalMethod",), methods=_STARTING
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name in _SETTINGS:
            self.chosen = True
        elif event.name in _STARTS_JAX and not event.frame.stage.staged:
            self.start(event.frame)
        if self.run is None or event.is_caught() or _outermost(event.frame) is not self.run:
            return
        if event.name == "os.fork" or _forks(event.callee):
            report(
                event.node,
                "forking after JAX has started its threads may deadlock; use the `spawn` start method",
                reason="the program runs JAX operations before this",
                shown=report.module in self.files,
            )
        elif event.name in _BY_DEFAULT and not _has_context(event):
            self.by_default.append(event)

    def finish(self, report: Reporter) -> None:
        """Runs once it is known that nothing in the program sets a start method."""
        told: dict[str, list[CallEvent]] = {}  # by file: one start method mends all of its pools
        for event in self.by_default if not self.chosen else ():
            told.setdefault(event.frame.module.display, []).append(event)
        for event, *more in told.values():
            report.event = event
            too = f"; {len(more)} more places in this file fork too" if len(more) > 1 else ""
            too = "; one more place in this file forks too" if len(more) == 1 else too
            report(
                event.node,
                "this forks after JAX has started its threads, and may deadlock; use the `spawn` start method",
                reason=f"the program runs JAX operations before this, and `fork` is the default on Linux up to Python 3.13{too}",
                shown=report.module in self.files,
            )


def _has_context(event: CallEvent) -> bool:
    """Whether a pool has an explicit start method, or is passed on to code that may set one."""
    if event.name.endswith("Executor") and len(event.args) > 1:
        return True
    return any(name in event.kwargs for name in ("mp_context", "context", "**"))


def _outermost(frame: Frame) -> Frame:
    while frame.caller is not None:
        frame = frame.caller
    return frame


def _forks(callee: Value) -> bool:
    if not isinstance(callee, ExternalMethod) or callee.name not in _STARTING:
        return False
    context = callee.receiver
    if not isinstance(context, ExternalObject) or context.name not in _CONTEXTS:
        return False
    method = argument(context, 0, "method")
    return method is not None and constant(method) == "fork"
