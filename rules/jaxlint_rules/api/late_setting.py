"""Settings made after JAX has read them."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Module, NameEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import Parents, cache, dotted, nodes_of
from jaxlint.api.tables import SETTINGS
from jaxlint.api.values import Array, constant
from jaxlint.finding import Severity

# Packages that import jax.
_IMPORTING = frozenset(
    """jax flax optax haiku equinox chex distrax numpyro brax optimistix diffrax lineax jaxopt blackjax rlax mctx
    orbax evosax gymnax""".split()  # noqa: SIM905
)
_AT_START = ("XLA_FLAGS", "XLA_PYTHON_CLIENT_", "CUDA_VISIBLE_DEVICES", "LIBTPU_INIT_ARGS", "TPU_VISIBLE_")
_OF_BACKENDS = frozenset({"jax_platforms", "jax_platform_name", "jax_num_cpu_devices"})
_STARTING = (
    "jax.devices",
    "jax.local_devices",
    "jax.device_count",
    "jax.local_device_count",
    "jax.default_backend",
)
_OTHER_PROCESSES = frozenset({"subprocess", "multiprocessing", "concurrent", "ray", "popen_spawn"})


class LateSetting(Rule):
    """A setting is changed after JAX has read it.

    ## What it does
    Finds, in one module,

    - environment variables `JAX_...` that are set after `jax` is imported;
    - `XLA_FLAGS` and similar variables that are set after the first array or the first query of
      devices;
    - `jax_platforms`, `jax_num_cpu_devices` and `jax.distributed.initialize` after that;
    - `jax_enable_x64` that is turned on after an array that is used later was created in 32 bits.

    ## Why is this bad?
    JAX reads its environment variables on import. A variable that is set later has no effect, and
    JAX does not warn: `JAX_PLATFORMS`, `JAX_ENABLE_X64`, `JAX_DEBUG_NANS` and `JAX_NUM_CPU_DEVICES`
    were tried, among others. `XLA_FLAGS` is read when the backend starts, which the first array
    does. After that, `jax_platforms` is accepted and ignored, and `jax_num_cpu_devices` and
    `jax.distributed.initialize` raise `RuntimeError`.

    ## Example
    ```python
    import jax
    import os

    os.environ["JAX_PLATFORMS"] = "cpu"
    ```

    ## Use instead
    ```python
    import os

    os.environ["JAX_PLATFORMS"] = "cpu"

    import jax
    ```
    Or call `jax.config.update("jax_platforms", "cpu")` before the first array is created.

    ## Fix safety
    There is no automatic fix: other imports may depend on their order.

    ## When not to fix
    Keep it if the variable is for processes that the program starts. Modules that import
    `subprocess` or `multiprocessing` are not reported.

    ## References
    - [JAX: configuration options](https://docs.jax.dev/en/latest/config_options.html)
    """

    code = "JAX810"
    name = "late-setting"
    category = "api"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self.started: dict[ast.AST, int] = {}  # function or module -> the line of its first array
        # What comes too late, by the body and what it comes after: the first, with its reason, and the lines of the others.
        self.late: dict[tuple[ast.AST, str], tuple[NameEvent, ast.AST, str, str, list[int]]] = {}

    @concerns(
        *_STARTING,
        "jax.numpy.",
        "jax.random.",
        "jax.device_put",
        "jax.config.update",
        "jax.distributed.initialize",
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame = event.frame
        if frame.stage.staged or frame.module.is_test:
            return
        owner: ast.AST = frame.owner
        line = getattr(event.node, "lineno", 0)
        if event.name == "jax.config.update" and len(event.args) > 1 and not frame.is_conditional():
            if constant(event.args[0]) == "jax_enable_x64" and constant(event.args[1]) is True:
                self.check_widened(event, owner, report)
        if event.name == "jax.distributed.initialize" or (
            event.name == "jax.config.update" and event.args and constant(event.args[0]) in _OF_BACKENDS
        ):
            first = self.started.get(owner, line)
            if first < line and not frame.is_conditional():
                what = (
                    "this raises RuntimeError"
                    if "initialize" in event.name or constant(event.args[0]) == "jax_num_cpu_devices"
                    else ("this has no effect")
                )
                act = "call" if "initialize" in event.name else "set"
                report(
                    event.node,
                    f"{what}: line {first} has already started the backend; {act} it before that line",
                    reason="JAX chooses devices once, when the backend starts",
                )
        elif event.name.startswith(_STARTING) or isinstance(event.result, Array):
            if not frame.is_conditional() and not frame.loops:
                self.started.setdefault(owner, line)

    def check_widened(self, event: CallEvent, owner: ast.AST, report: Reporter) -> None:
        """Arrays keep the dtype of their creation."""
        tree, line = event.frame.module.tree, getattr(event.node, "lineno", 0)
        for body in dict.fromkeys((owner, tree)):  # the nearer one first
            for statement in getattr(body, "body", []):
                name = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if not isinstance(name, ast.Name) or (body is owner and statement.lineno > line):
                    continue
                value = event.frame.value_of(name.id)
                if not isinstance(value, Array) or value.staged or value.dtype not in ("float32", "int32"):
                    continue
                if _read_later(name.id, body, line):
                    report(
                        event.node,
                        f"`{name.id}` (line {statement.lineno}) stays {value.dtype}: x64 is enabled too late; enable it right after the import",
                        reason="an array keeps its dtype",
                    )
                    return

    @concerns("os.environ", "os.putenv")
    def on_name(self, event: NameEvent, report: Reporter) -> None:
        frame, module = event.frame, event.frame.module
        name, place = _set(event.node, module.parents)
        if not name or place is None or module.is_test or _starts_processes(module.tree):
            return
        line = place.lineno
        owner: ast.AST = frame.owner
        top = owner.lineno if isinstance(owner, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)) else line
        imported = _import_line(module.tree)
        if name.lower() in SETTINGS and imported is not None and imported < top:
            if f'"{name.lower()}"' in module.source.text.replace("'", '"'):
                return  # `jax.config.update` sets it for this process, the variable for others
            if _is_set_again(place, imported, module):
                return
            after = f"line {imported} has already imported JAX; set it before the import"
            self.note(event, place, name, after, "JAX reads its environment variables once, on import")
        elif name.startswith(_AT_START) and self.started.get(owner, line) < line:
            after = f"line {self.started[owner]} has already started the backend; set it earlier"
            self.note(event, place, name, after, "JAX reads it once, when the backend starts")

    def note(self, event: NameEvent, place: ast.expr | ast.stmt, name: str, after: str, why: str) -> None:
        """Settings that come after the same line have one cause, and one finding."""
        known = self.late.setdefault(
            (event.frame.owner, after), (event, place, f"`{name}` has no effect: {after}", why, [])
        )
        if known[1] is not place and place.lineno not in known[4]:
            known[4].append(place.lineno)

    def finish(self, report: Reporter) -> None:
        for event, place, message, why, lines in self.late.values():
            report.event = event
            others = f"; the same holds for line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
            report(place, message, reason=why + (others if lines else ""))


def _set(node: ast.AST, parents: Parents) -> tuple[str, ast.expr | ast.stmt | None]:
    """The environment variable that is set through `os.environ`, and its place; "" if none is."""
    parent = parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Store):
        return _text(parent.slice), parent
    call = parents.get(parent) if isinstance(parent, ast.Attribute) else parent
    if not isinstance(call, ast.Call):
        return "", None
    name = dotted(call.func)
    if name.endswith((".setdefault", "putenv")) and call.args:
        return _text(call.args[0]), call
    if name.endswith(".update"):
        names = [keyword.arg or "" for keyword in call.keywords]
        if call.args and isinstance(call.args[0], ast.Dict):
            names += [_text(key) for key in call.args[0].keys if key is not None]
        return next((one for one in names if one.lower() in SETTINGS or one.startswith(_AT_START)), ""), call
    return "", None


def _is_set_again(place: ast.expr | ast.stmt, line: int, module: Module) -> bool:
    """Whether a statement before a line has set the same variable to the same value."""
    statement = module.parents.get(place)
    if not isinstance(statement, ast.Assign):
        return False
    written = ast.dump(statement)
    return any(one.lineno < line and ast.dump(one) == written for one in nodes_of(module.tree, ast.Assign))


def _read_later(name: str, body: ast.AST, line: int) -> bool:
    """Whether a variable is read after a line, or in a function."""
    inside = {
        part
        for function in ast.walk(body)
        if isinstance(function, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)) and function is not body
        for part in ast.walk(function)
    }
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and (node.lineno > line or node in inside)
        for node in ast.walk(body)
    )


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@cache
def _import_line(tree: ast.Module) -> int | None:
    """The first line of the module that certainly imports jax."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            roots = {alias.name.partition(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and not statement.level:
            roots = {(statement.module or "").partition(".")[0]}
        else:
            continue
        if roots & _IMPORTING:
            return statement.lineno
    return None


@cache
def _starts_processes(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots = {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots = {(node.module or "").partition(".")[0]}
        else:
            continue
        if roots & _OTHER_PROCESSES:
            return True
    return False
