"""`jax.jit` applied again and again."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Frame, Loop, Module, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import all_parameters, dotted, nodes_of, walk
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import (
    Array,
    BoundMethod,
    ExternalObject,
    Function,
    Partial,
    Static,
    Transformed,
    Value,
)
from jaxlint.finding import Severity
from jaxlint_rules._cost import COMPILE, level, runs
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import (
    FEW,
    assigned_once,
    given_arguments,
    host_loops,
    is_retry,
    loop_variables,
    rebound,
)
from jaxlint_rules._main_loops import carries_state
from jaxlint_rules._names import names_in, unpacked, variable_given
from jaxlint_rules._periods import comes_back
from jaxlint_rules.recompilation._following import follows
from jaxlint_rules.recompilation._repeated_jit import (
    compares_content,
    fresh_function,
    is_data,
    is_read_from_object,
    kept,
    lasts,
    returned,
    stored,
    target_names,
    uses_loop_variable,
)

_COMPILED = ("numpyro.infer.MCMC", "numpyro.infer.mcmc.MCMC")  # objects that keep what they have compiled
_COMMON = frozenset(
    {
        "run",
        "fit",
        "train",
        "learn",
        "get",
        "update",
        "add",
        "build",
        "compile",
        "solve",
        "main",
        "call",
        "forward",
    }
)
_SOLVERS = ("scipy.optimize.", "scipy.integrate.")
_BETWEEN = 1  # functions between a loop and the function that jits
# functions that run once, so their jits are created once
_ONCE = frozenset({"__init__", "setup", "__post_init__", "main"})


class JitInLoop(Rule):
    """`jax.jit` inside a loop retraces and recompiles.

    ## What it does
    Finds `jax.jit` in a loop, or in a function or property that a loop uses, applied to a function
    object that is new each time: a lambda, a nested `def`, a `partial`, a bound method
    (`model.step` is a new object at each evaluation). What every N-th iteration reaches, such as
    an evaluation, counts as well. The rule also covers:

    - functions that a SciPy solver calls repeatedly;
    - a `partial` that binds numbers from the loop counter, which could be arguments;
    - a method that jits the function it calls, if a loop calls it on an object of unknown class;
    - a numpyro `MCMC` object created in a loop.

    ## Why is this bad?
    JAX caches compiled programs by the function object. A new object is traced and compiled again:
    about 28 ms instead of 7 us for a small function. Wrapping the same module-level function again
    costs about 50 us a call and does not recompile; that finding is advice (`info`) and off by
    default.

    ## Example
    ```python
    for epoch in range(10):
        step = jax.jit(lambda p, b: update(p, b, 0.1))
        params = step(params, batch)
    ```

    ## Use instead
    ```python
    step = jax.jit(lambda p, b: update(p, b, 0.1))
    for epoch in range(10):
        params = step(params, batch)
    ```

    ## Fix safety
    Unsafe: the statement moves before the loop, so attributes and list items that the function
    reads besides its arguments are read once, at the first call. Functions that read variables that
    change in the loop are not reported. If a loop calls the enclosing function, there is no
    automatic fix: its caller should create the jitted function.

    ## When not to fix
    Keep it if each iteration needs another program, because the function depends on an integer or
    an object that changes in the loop. (Arrays can be arguments.) Also keep it if the jitted
    function is kept in a table. Neither is reported. `eqx.filter_jit` and `eqx.filter_pmap` compare
    methods of equinox modules and results of `eqx.filter_vmap` or `eqx.filter_grad` by their
    content, and find the compiled program again.

    It is advice where the loop is not seen to run ten times: over the items of a dict, a few values
    that are written down, or with a known, smaller length. In a file of a project it is advice where
    no loop around it computes a state from that of the iteration before: independent iterations solve
    one problem each, or compare settings, and each takes long compared with its compilation.

    ## References
    - [JAX: just-in-time compilation and caching](https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching)
    """

    code = "JAX401"
    name = "jit-in-loop"
    category = "recompilation"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        self.made_inside: dict[
            ast.AST, tuple[TransformEvent, str]
        ] = {}  # the jits in functions, which run at each call
        self.solved: dict[ast.AST, CallEvent] = {}  # functions passed to a solver

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        frame = event.frame
        if transformed.kind not in JIT_KINDS or frame.stage.staged or frame.module.is_test:
            return
        fresh = fresh_function(transformed.target, frame.module, compares_content(transformed))
        if isinstance(transformed.target, ExternalObject) and not is_read_from_object(event.node):
            fresh = None  # a method that was read once and is kept
        loop = real_loop(frame)
        called_in_loop = frame.caller is not None and _runs_in_loop(frame.caller) is not None
        if fresh is None:
            self.check_wrapped(event, loop, report)
            return
        if frame.function is not None and loop is None and not (stored(event, report) or kept(event, report)):
            if not returned(event, frame):
                self.made_inside.setdefault(frame.function.node, (event, fresh[0]))
        if not (loop or called_in_loop) or stored(event, report):
            return
        if loop is not None:
            if (
                not comes_back(frame, loop)
                or kept(event, report)
                or isinstance(report.module.parents.get(event.node), ast.Return)
                or loop.trips == 1
                or uses_loop_variable(fresh, transformed, loop, frame)
                or lasts(transformed, loop)
            ):
                return
            line = getattr(loop.node, "lineno", "?")
            often = "each time" if frame.is_conditional_in(loop) else "every iteration"
            report(
                event.node,
                f"`{transformed.api}` of {fresh[0]} in the loop recompiles {often}; jit it once, before the loop",
                reason=f"{transformed.why.explain(report.module)}, inside the loop at line {line}",
                function=frame.name,
                fix=propose(report, event.node, "hoist-jit", "Jit it once, before the loop", safe=False),
                severity=level(runs(frame, loop) * COMPILE),
                shown=_goes_on(frame),
            )
            return
        self.check_callers(event, fresh[0], report)

    @concerns(*_SOLVERS, *_COMPILED)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """Functions that a SciPy solver calls repeatedly, which is a loop as well."""
        if event.frame.stage.staged or event.frame.module.is_test:
            return
        if event.name in _COMPILED:
            self.check_object(event, report)
            return
        for value in [*event.args, *event.kwargs.values()]:
            function = value.function if isinstance(value, (BoundMethod, Partial)) else value
            if isinstance(function, Function):
                self.solved.setdefault(function.node, event)

    def finish(self, report: Reporter) -> None:
        for function, (event, what) in self.made_inside.items():
            self.check_method(function, event, what, report)
            call = self.solved.get(function)
            if call is None or call.frame.module is not event.frame.module:
                continue
            report.event = event
            report(
                event.node,
                f"`{event.transformed.api}` of {what} recompiles at every call of `{(event.frame.name or '').rpartition('.')[2]}`; jit it once",
                reason=f"`{call.name}` calls the function at each step (line {getattr(call.node, 'lineno', '?')}); "
                f"{event.transformed.why.explain(report.module)}",
            )

    def check_method(self, function: ast.AST, event: TransformEvent, what: str, report: Reporter) -> None:
        """A method that jits what it calls at once, and that a loop calls on an object of unknown class."""
        frame = event.frame
        call = _called_by_a_loop(function, frame.module)
        if call is None or frame.is_conditional() or not frame.module.reported:
            return
        if _gets_another_object(function, event, call):
            return
        report.event = event
        report(
            event.node,
            f"`{event.transformed.api}` of {what} recompiles at every call of `{(frame.name or '').rpartition('.')[2]}`; jit it once",
            reason=f"the loop around line {call.lineno} calls the method; {event.transformed.why.explain(report.module)}",
        )

    def check_object(self, event: CallEvent, report: Reporter) -> None:
        """An object that compiles its program at its first run, created in each iteration from the same arguments, or in
        a function that a loop calls."""
        frame = event.frame
        loop = real_loop(frame)
        if loop is not None:
            if loop.trips == 1 or not comes_back(frame, loop):
                return
            changing = target_names(loop.node) | rebound(loop.node)
            if names_in(event.node) & changing - _assigned_to(event, report):
                return
            where, way = f"the loop at line {getattr(loop.node, 'lineno', '?')}", "before the loop"
        else:
            running = self.loop_around(event)
            loop = real_loop(running) if running is not None else None
            if running is None or loop is None:
                return
            line = f"line {getattr(loop.node, 'lineno', '?')}"
            line = line if running.module is frame.module else f"{running.module.display}:{line[5:]}"
            where, way = f"`{frame.name}`, called in the loop at {line},", "outside"
        what = event.name.rpartition(".")[2]
        report(
            event.node,
            f"a new `{what}` compiles its program every iteration; create it once, {way}",
            reason=f"`{what}` keeps its compiled program; {where} creates a new one each time",
            severity=level(runs(frame, loop) * COMPILE),
        )

    @staticmethod
    def loop_around(event: CallEvent) -> Frame | None:
        """The frame whose loop calls the function of a call again and again, if what the call gets is the same each time."""
        frame = event.frame
        function, call, caller = frame.function, frame.call_node, frame.caller
        if function is None or caller is None or not comes_back(frame) or function.name in _ONCE:
            return None
        running = _runs_in_loop(caller)
        loop = real_loop(running) if running is not None else None
        if running is not caller or loop is None or loop.trips == 1 or not comes_back(caller, loop):
            return None
        if not isinstance(call, ast.Call):
            return None
        bound, used = assigned_once(function.node), names_in(event.node)
        for _ in range(len(bound)):
            used = used.union(*(names_in(bound[name]) for name in used & bound.keys()))
        changing = target_names(loop.node) | rebound(loop.node)
        given = given_arguments(function.node, call)
        return None if any(name in used and names_in(part) & changing for name, part in given) else running

    def check_wrapped(self, event: TransformEvent, loop: Loop | None, report: Reporter) -> None:
        """A module function that each iteration wraps again: no compilation, but about 50 us."""
        target, frame = event.transformed.target, event.frame
        if (
            loop is None
            or not isinstance(target, Function)
            or event.decorator is not None
            or stored(event, report)
        ):
            return
        if frame.guarded_in_loop() or (loop.trips is not None and loop.trips <= FEW):
            return
        line = getattr(loop.node, "lineno", "?")
        report(
            event.node,
            f"`{event.transformed.api}` of `{target.name}` in the loop costs about 50 us per iteration; call it before the loop",
            reason=f"{event.transformed.why.explain(report.module)}, inside the loop at line {line}; it does not recompile",
            severity=Severity.INFO,
            fix=propose(report, event.node, "hoist-jit", "Jit it once, before the loop", safe=False),
        )

    def check_callers(self, event: TransformEvent, what: str, report: Reporter) -> None:
        """The function that jits is itself called in a loop."""
        frame = event.frame
        call, caller = frame.call_node, frame.caller
        if frame.function is None or caller is None or caller.stage.staged or caller.module.is_test:
            return
        if not comes_back(frame) or kept(event, report):
            return  # created once and kept
        target = event.transformed.target
        if isinstance(target, Function) and not _lies_in(target.node, frame.function.node):
            return  # the same function each time: its compiled program is found again
        if isinstance(target, Transformed) and not _lies_in(target.node, frame.function.node):
            return
        if frame.function.name in _ONCE:
            return
        running = _runs_in_loop(caller)
        loop = running.in_loop() if running is not None else None
        if running is None or loop is None or not comes_back(running, loop) or loop.trips == 1:
            return
        if running is caller and isinstance(call, ast.Call) and dotted(call.func) in target_names(loop.node):
            return  # `for check in checks: check()` calls each function once
        if returned(event, frame):
            at_once = _called_at_once(call, caller) or _is_needless_factory(frame, call, caller, loop)
            if _is_cached(frame.function.node) or not at_once:
                return
        if isinstance(call, ast.Call):
            if running is not caller and not _is_given_data(frame, call):
                return  # the loop's arguments for the function in between are unknown
            if calls_another_function(event, frame, call, target_names(loop.node)):
                return
            lasting = isinstance(target, Transformed) and fresh_function(target.target, frame.module) is None
            names = set() if lasting else loop_variables(loop.node) | _parts_of_targets(loop.node)
            for parameter, argument in given_arguments(frame.function.node, call):
                if any(isinstance(n, ast.Name) and n.id in names for n in walk(argument)):
                    if not is_data(frame.local(parameter)):
                        return  # each iteration may well need its own program
        elif not isinstance(call, ast.Attribute) or not _called_at_once(call, caller):
            return
        line = getattr(loop.node, "lineno", "?")
        where = f"line {line}" if running.module is frame.module else f"{running.module.display}:{line}"
        report(
            event.node,
            f"`{event.transformed.api}` of {what} recompiles at every call of `{frame.function.name.rpartition('.')[2]}`; jit it once",
            reason=f"`{frame.function.name}` is called in the loop at {where}; {event.transformed.why.explain(report.module)}",
            severity=level(runs(frame, loop) * COMPILE),
            shown=_goes_on(running),
        )


def _goes_on(frame: Frame) -> bool:
    """Whether a loop around a place computes a state from that of the iteration before, as a fit or a simulation does. Independent
    iterations solve one problem each, or compare settings, often of another size: each is long compared with its compilation."""
    return any(carries_state(loop.node) for one in (frame, *frame.callers()) for loop in one.loops)


def _parts_of_targets(loop: ast.AST) -> set[str]:
    """Names of items and attributes of what the loop goes through: `optimizer = config["optimizer"]`."""
    targets = loop_variables(loop)
    return {
        name
        for name, value in assigned_once(loop).items()
        if isinstance(value, (ast.Subscript, ast.Attribute)) and names_in(value) & targets
    }


def _assigned_to(event: CallEvent, report: Reporter) -> set[str]:
    """The variable that holds the object."""
    return {variable_given(report.module.parents.get(event.node))}


def _gets_another_object(function: ast.AST, event: TransformEvent, call: ast.Call) -> bool:
    """Whether the loop passes another optimizer or module in each iteration, a method of which the jitted function calls."""
    module = event.frame.module
    loop = next((above for above in module.ancestors(call) if isinstance(above, (ast.For, ast.While))), None)
    if loop is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    owners = {
        dotted(one.func.value)
        for one in nodes_of(event.node, ast.Call)
        if isinstance(one.func, ast.Attribute) and one.func.attr in ("init", "update", "apply")
    }
    changing = target_names(loop) | _parts_of_targets(loop)
    return any(
        parameter in owners and bool(names_in(argument) & changing)
        for parameter, argument in given_arguments(function, call)
    )


def _called_by_a_loop(function: ast.AST, module: Module) -> ast.Call | None:
    """A call of a method by its name in a loop of the module, where no other class there has a method of that name."""
    name = getattr(function, "name", "")
    if not isinstance(module.parents.get(function), ast.ClassDef) or name in _COMMON:
        return None
    if sum(other.name == name for other in nodes_of(module.tree, ast.FunctionDef)) != 1:
        return None
    for call in nodes_of(module.tree, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == name and len(call.args) > 0:
            if any(isinstance(above, (ast.For, ast.While)) for above in module.ancestors(call)):
                return call
    return None


def _runs_in_loop(caller: Frame) -> Frame | None:
    """The frame with the loop around a call: the call's own, or that of an enclosing host function.

    All functions in between make the call whenever they run.
    """
    frame: Frame | None = caller
    for _ in range(_BETWEEN + 1):
        if frame is None or frame.stage.staged or frame.module.is_test:
            return None
        if any(not is_retry(loop.node) for loop in frame.loops):
            return frame
        if not comes_back(frame) or frame.function is None or frame.function.name in _ONCE:
            return None
        frame = frame.caller
    return None


def _is_given_data(frame: Frame, call: ast.Call) -> bool:
    """Whether a call only passes arrays and numbers, so that one compiled program suffices."""
    assert frame.function is not None
    return all(is_data(frame.local(name)) for name, _ in given_arguments(frame.function.node, call))


def real_loop(frame: Frame) -> Loop | None:
    """The innermost `for` or `while` of a frame, other than one that only tries again."""
    loops = (loop for loop in reversed(frame.loops) if loop.kind != "comprehension")
    return next((loop for loop in loops if not is_retry(loop.node)), None)


def _is_needless_factory(frame: Frame, call: ast.AST | None, caller: Frame, loop: Loop) -> bool:
    """`step = make_step(...)` in a loop, from constants, or from counter-dependent numbers that could be arguments."""
    if not isinstance(call, ast.Call) or loop not in host_loops(caller) or frame.function is None:
        return False
    parent = caller.module.parents.get(call)
    if not isinstance(parent, ast.Assign) or not all(_is_names(target) for target in parent.targets):
        return False
    changing = target_names(loop.node)
    moving = [
        (parameter, argument)
        for parameter, argument in given_arguments(frame.function.node, call)
        if names_in(argument) & changing
    ]
    return all(
        _is_number_of_a_run(frame.local(parameter)) and follows(argument, loop.node, caller)
        for parameter, argument in moving
    )


def _is_names(target: ast.expr) -> bool:
    """`step`, or `tx, step` for a factory with several results."""
    return all(isinstance(part, ast.Name) for part in unpacked(target))


def _is_number_of_a_run(value: Value | None) -> bool:
    """A number with a fraction, or an optimiser built from one, such as a learning rate; an integer may be a size."""
    if isinstance(value, ExternalObject) and value.name.startswith("optax."):
        return all(isinstance(part, (Static, Array)) for part in [*value.args, *value.kwargs.values()])
    return is_data(value)


def _called_at_once(node: ast.AST | None, frame: Frame) -> bool:
    """Whether the result of a call or property is called at once, and not kept."""
    return node is not None and frame.module.call_of(node) is not None


def _is_cached(function: ast.AST) -> bool:
    """Whether a function is cached by its arguments."""
    return any(
        "cache" in dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in getattr(function, "decorator_list", [])
    )


def calls_another_function(event: TransformEvent, frame: Frame, call: ast.Call, changing: set[str]) -> bool:
    """Whether the jitted function calls a parameter of its enclosing function that each iteration passes again."""
    assert frame.function is not None
    parameters = [parameter.arg for parameter in all_parameters(frame.function.node)]
    body = (
        event.node
        if event.decorator is not None or not isinstance(event.node, ast.Call)
        else event.node.args[0]
    )
    called = {c.func.id for c in walk(body) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)}
    given = dict(zip(parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    for name in called & given.keys():
        argument = given[name]
        if isinstance(argument, (ast.Lambda, ast.Call)):
            return True
        if isinstance(argument, ast.Name) and argument.id in changing:
            return True  # `state.apply_fn` stays the same function when the state changes
    return False


def _lies_in(node: ast.AST, outer: ast.AST) -> bool:
    return outer.lineno <= node.lineno <= (outer.end_lineno or 0)  # type: ignore[attr-defined]
