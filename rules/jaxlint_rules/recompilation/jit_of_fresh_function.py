"""Control flow outside jit that receives new function objects at every call."""

from __future__ import annotations

import ast
import itertools

from jaxlint.api import CallEvent, Frame, Loop, Reporter, Rule, Stage, concerns
from jaxlint.api.syntax import cache, dotted, nodes_of
from jaxlint.api.values import BoundMethod, Function, ListValue, Partial, TupleValue, Value
from jaxlint.finding import Severity
from jaxlint_rules._compiled_methods import is_compiled_by_class
from jaxlint_rules._cost import COMPILE, level, runs
from jaxlint_rules._loops import host_loops
from jaxlint_rules._names import last_name
from jaxlint_rules._periods import comes_back
from jaxlint_rules._programs import is_on_host, runs_on_host

_EAGER = {
    "jax.lax.switch": (1,),
    "jax.lax.cond": (1, 2),
    "jax.lax.scan": (0,),
    "jax.lax.map": (0,),
    "jax.lax.while_loop": (0, 1),
    "jax.lax.fori_loop": (2,),
    "jax.lax.associative_scan": (0,),
}
_MAPPING = frozenset({"vmap", "grad", "value_and_grad", "jacobian"})
_NEAR = 8  # calls between a loop and the primitive
_NAMES = ("branches", "true_fun", "false_fun", "f", "cond_fun", "body_fun", "fn")


class JitOfFreshFunction(Rule):
    """Control flow outside jit recompiles a new function at every call.

    ## What it does
    Finds `lax.switch`, `lax.cond`, `lax.scan`, `lax.while_loop` and similar primitives outside
    `jit`, in a loop or in a function that a loop calls, with functions that are created again each
    time: lambdas or nested `def`s. `vmap` and `grad` around them compile nothing by themselves.

    ## Why is this bad?
    Outside `jit`, these primitives compile their functions and cache the program by the function
    object. A new object is traced and compiled again: `lax.switch` with three fresh lambdas took
    180 times as long as with three functions of the module, `lax.scan` with a fresh body 550 times
    (on a CPU, small arrays).

    ## Example
    ```python
    def mix(i, x, y):
        return jax.lax.switch(i, [lambda _: x + y, lambda _: x - y], None)

    for t in range(steps):
        total = total + mix(t % 2, x, y)
    ```

    ## Use instead
    ```python
    @jax.jit
    def mix(i, x, y):
        return jax.lax.switch(i, [lambda _: x + y, lambda _: x - y], None)
    ```
    Or use module-level functions that take `x` and `y` as operands.

    ## Fix safety
    There is no automatic fix: whether the whole function can be jitted depends on the rest of it.

    ## When not to fix
    Keep it if the loop runs only a few times. Not reported: methods that a class method of their
    class compiles (`cls.step = jax.jit(cls.step)`), functions that a setting compiles
    (`step = jax.jit(f) if compiles else f`), and loops in tests.

    It is advice where the loop is not seen to run ten times: over the items of a dict, a few values
    that are written down, or with a known, smaller length.

    ## References
    - [JAX: just-in-time compilation and caching](https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching)
    """

    code = "JAX405"
    name = "jit-of-fresh-function"
    category = "recompilation"
    severity = Severity.WARNING
    cure = ("compile the step", 0)

    @concerns(*_EAGER)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        positions = _EAGER.get(event.name)
        frame = event.frame
        if positions is None or _is_compiled(frame) or frame.module.is_test:
            return
        if not report.compiles:
            return  # under `jax.disable_jit()` nothing is compiled, on purpose
        if not frame.is_certain() and frame.caller is None and not frame.loops:
            return  # its callers are unknown
        given = [event.args[n] for n in positions if n < len(event.args)]
        given += [event.kwargs[name] for name in _NAMES if name in event.kwargs]
        where = _repeated(frame)
        if where is None:
            return
        loop_frame, line = where
        loop = host_loops(loop_frame, comprehensions=True)[0]
        if (
            not (_is_program(loop_frame) or runs_on_host(frame) or runs_on_host(loop_frame))
            or is_compiled_by_class(frame)
            or _has_compiled_twin(frame, loop_frame)
        ):
            return
        if frame.stage.staged and not (is_on_host(loop_frame) and _is_mapped_within(frame, loop_frame)):
            return  # who maps or differentiates it may compile that
        fresh = [value for part in given for value in _functions(part) if _is_fresh(value, frame, loop_frame)]
        if not fresh:
            return
        api = event.name.replace("jax.lax", "lax")
        kinds = "a lambda" if isinstance(fresh[0].node, ast.Lambda) else f"nested function `{fresh[0].name}`"
        report(
            event.node,
            f"`{api}` outside jit recompiles {kinds} at every call; jit the caller",
            reason=f"the loop at {line} creates a new function object each time, which misses the compilation cache",
            severity=level(runs(frame, loop) * COMPILE),
        )


def _is_compiled(frame: Frame) -> bool:
    """Whether code runs in a trace of something other than `vmap` and derivatives, which run each operation at once and
    compile a loop's body like the host does."""
    stage: Stage | None = frame.stage
    while stage is not None and stage.staged:
        if stage.abstract or not stage.certain or stage.kind not in _MAPPING:
            return True
        stage = stage.parent
    return False


def _is_mapped_within(frame: Frame, loop_frame: Frame) -> bool:
    """Whether the loop is around the mapped function, and not inside of it."""
    mapped = {link.function for link in frame.stage.why.chain()} if frame.stage.why is not None else set()
    within = itertools.takewhile(lambda one: one is not loop_frame, (frame, *frame.callers()))
    return any(one.function is not None and one.function.name in mapped for one in within)


def _has_compiled_twin(frame: Frame, loop_frame: Frame) -> bool:
    """Whether the loop calls the code by a name that a setting makes its compiled form: `step = jax.jit(f) if compiles else f`."""
    within: Frame | None = frame
    while within is not None and within is not loop_frame:
        call, caller = within.call_node, within.caller
        name = dotted(call.func) if isinstance(call, ast.Call) else ""
        if name and caller is not None and _is_optionally_compiled(name, caller.owner):
            return True
        within = caller
    return False


@cache
def _is_optionally_compiled(name: str, owner: ast.AST) -> bool:
    given = [
        statement.value
        for statement in nodes_of(owner, ast.Assign)
        if any(dotted(target) == name for target in statement.targets)
    ]
    arms = [
        arm
        for value in given
        for arm in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))
    ]
    return len(arms) > 1 and any(isinstance(arm, ast.Call) and last_name(arm.func) in _JITS for arm in arms)


_JITS = frozenset({"jit", "filter_jit", "pmap"})


def _repeated(frame: Frame) -> tuple[Frame, str] | None:
    """The frame of the loop that runs this again and again, and where the loop is."""
    current: Frame | None = frame
    for _ in range(_NEAR):
        if current is None or _is_compiled(current) or current.module.is_test:
            return None
        loops = host_loops(current, comprehensions=True)
        if loops:
            if not comes_back(current, loops[0]):
                return None
            line = f"line {_whole(loops[0], current).lineno}"
            return current, line if current.module is frame.module else f"{current.module.display}:{line[5:]}"
        if not comes_back(current):
            return None
        current = current.caller
    return None


def _whole(loop: Loop, frame: Frame) -> ast.stmt | ast.expr:
    """A loop as a node with lines: a comprehension as a whole, of which each `for` is a loop."""
    node = frame.module.parents[loop.node] if isinstance(loop.node, ast.comprehension) else loop.node
    assert isinstance(node, (ast.stmt, ast.expr))
    return node


def _is_program(frame: Frame) -> bool:
    """Whether a loop certainly runs on the host: it calls compiled functions, or the module itself runs it."""
    if any(loop.calls_jitted for loop in frame.loops):
        return True
    current: Frame | None = frame
    while current is not None:
        if current.is_program() and not current.scope.is_class:
            return True
        current = current.caller
    return False


def _functions(value: Value) -> list[Function]:
    if isinstance(value, Function):
        return [value]
    if isinstance(value, Partial):
        return _functions(value.function)
    if isinstance(value, BoundMethod):
        return []
    if isinstance(value, (ListValue, TupleValue)):
        return [found for part in value.elements() for found in _functions(part)]
    return []


def _is_fresh(function: Function, frame: Frame, loop_frame: Frame) -> bool:
    """Whether each iteration creates the function object again."""
    if function.module is not frame.module:
        return False
    current: Frame | None = frame
    while current is not None:
        if current.scope is function.scope:
            if current is not loop_frame:
                return current.function is not None
            loop = _whole(host_loops(current, comprehensions=True)[0], current)
            return loop.lineno <= function.node.lineno <= (loop.end_lineno or 0)
        if current is loop_frame:
            return False
        current = current.caller
    return False
