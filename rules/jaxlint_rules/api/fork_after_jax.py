"""A process is forked after JAX has started."""

from __future__ import annotations

from jaxlint.api import CallEvent, Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.values import ExternalMethod, ExternalObject, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument

_CONTEXTS = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
_STARTING = frozenset({"Pool", "Process"})


class ForkAfterJax(Rule):
    """A process is forked after JAX has started.

    ## What it does
    Finds `os.fork()` and processes of `multiprocessing.get_context("fork")` behind operations of JAX in the same run.

    ## Why is this bad?
    JAX runs threads of its own. A fork copies the locks that they hold, and not the threads, so that the child may wait for ever.
    JAX warns of it: `os.fork() is incompatible with multithreaded code, and JAX is multithreaded`.

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
    There is no automatic fix: what is spawned imports the program anew.

    ## When not to fix
    When the child runs another program at once; `subprocess` does that.

    ## References
    - [multiprocessing: start methods](https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods)
    """

    code = "JAX817"
    name = "fork-after-jax"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.run: Frame | None = None  # the outermost call of the run in which JAX has computed last

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        if not event.frame.stage.staged:
            self.run = _outermost(event.frame)

    @concerns("os.fork", callees=("ExternalMethod",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if self.run is None or event.is_caught() or not (event.name == "os.fork" or _forks(event.callee)):
            return
        if _outermost(event.frame) is self.run:
            report(
                event.node,
                "forking after JAX has started its threads may deadlock; use the `spawn` start method",
                reason="the program runs JAX operations before this",
            )


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
