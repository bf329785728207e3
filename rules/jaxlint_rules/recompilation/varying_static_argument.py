"""Static arguments that change in every iteration."""

from __future__ import annotations

import ast
import re

from jaxlint.api import Loop, Reporter, Rule, StaticArgumentEvent, TracedArgumentEvent
from jaxlint.api.syntax import dotted, nodes_of, walk
from jaxlint.api.tables import JIT_KINDS
from jaxlint.api.values import Array, ClassValue, Function, Instance, Static, Value
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._cost import COMPILE, level, runs
from jaxlint_rules._fixes import declare_fields_traced, declare_traced, pass_as_array
from jaxlint_rules._loops import SIZED, assigned_once, bodies, host_loops, is_brief, place_of_loop
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules.recompilation._changing_numbers import compiled_numbers, is_stepped
from jaxlint_rules.recompilation._following import (
    attributes_stepped,
    fields_given,
    follows,
    follows_callers,
    follows_calls,
)
from jaxlint_rules.recompilation._new_functions import (
    loop_of_optimizers,
    loop_that_makes,
    optimizer_in,
    own_function,
)


class VaryingStaticArgument(Rule):
    """A static argument changes in every iteration and recompiles.

    ## What it does
    Finds calls of jitted functions in a loop, or in a function that the loop calls, that pass one
    of these for a static parameter:

    - a function created in the loop;
    - the loop counter, or a value computed from it, also by a function of the project or as a field
      of a config;
    - a count that an object keeps;
    - the length of a list that grows;
    - a real number that the host draws, or the time;
    - an optimizer of optax that each iteration creates, also in the `tx` of a `TrainState`: it holds
      new functions.

    For `eqx.filter_jit` every Python number is static, also one in a field of a module; so are the
    numbers of an `nnx.Module` for `nnx.jit`, and a function that the constructor of a module makes:
    it is a new one in each module of a loop. For `jax.jit` the fields of a dataclass that are
    declared static count. The loop, a helper or the jitted function itself may change such a field.

    ## Why is this bad?
    JAX compiles one program for each value of a static argument. With a static step counter or
    learning rate every iteration recompiles: over 100 ms a call for a multiplication that takes
    0.01 ms with a traced argument (on a CPU).

    ## Example
    ```python
    step = jax.jit(update, static_argnames="i")
    for i in range(steps):
        params = step(params, batch, i=i)
    ```

    ## Use instead
    ```python
    step = jax.jit(update)
    for i in range(steps):
        params = step(params, batch, i=i)
    ```
    Replace Python branches on `i` with `jnp.where` or `lax.cond`.

    ## Fix safety
    Unsafe: the fix removes the parameter from `static_argnames` or `static_argnums`. The parameter
    is then a tracer (32 bits, weakly typed) instead of a Python number, so results may round
    differently. Of a frozen dataclass or a named tuple the real numbers become tracers: the fix
    registers the class as a pytree. For `eqx.filter_jit` the call passes `jnp.asarray(i)`. The fix
    applies only if the function is defined in the same file and only computes with the parameter. A
    function that uses it for a shape, a slice, a range or a Python branch, or passes it to code that
    might, needs the static value.

    ## When not to fix
    Keep it if the values are few and repeat, such as the levels of a pyramid: each compiles once.
    Not reported: sizes of arrays in a loop that the program enters once, for at most 32 of them.

    It is advice where the loop is not seen to run ten times: over the items of a dict, a few values
    that are written down, or with a known, smaller length.

    ## References
    - [JAX: static arguments](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX402"
    name = "varying-static-argument"
    category = "recompilation"
    severity = Severity.WARNING
    fixable = "unsafe"

    def __init__(self) -> None:
        # By loop, call and parameter: the numbers that the first iteration passes.
        self.first: dict[tuple[Loop, ast.AST, str], dict[str, float]] = {}
        self.told: dict[ast.AST, str] = {}  # by call: the parameter that is named

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        if isinstance(event.value, Static) and event.value.kind == "bool":
            return
        cure, declare = "make it traced", declare_traced
        if isinstance(event.value, Instance):
            cure, declare = "pass its numbers as arrays", declare_fields_traced
        fix = declare(event.transformed.node, event.transformed.module, event.parameter)
        self.check(event, "static `{}` varies with `{}`; " + cure, report, fix)
        self.check_optimizer(event, True, report)
        self.check_numbers(event, True, report)

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        """`filter_jit` only traces arrays: a Python number is part of the compiled program."""
        if event.transformed.kind == "filter_jit" and isinstance(event.value, Static):
            self.check(
                event,
                "the number `{}` is static and varies with `{}`; pass an array",
                report,
                pass_as_array(event.argument, event.frame.module, event.parameter),
            )
        elif isinstance(event.value, Instance):
            self.check_fields(event, event.value, report)
            if event.transformed.kind == "filter_jit":
                self.check_functions(event, event.value, report)
        if event.transformed.kind in JIT_KINDS:
            self.check_numbers(event, event.transformed.kind == "filter_jit", report)
            self.check_optimizer(event, event.transformed.kind == "filter_jit", report)

    def check_numbers(
        self, event: StaticArgumentEvent | TracedArgumentEvent, every: bool, report: Reporter
    ) -> None:
        """A number that differs between the first and a later iteration, and that the program computes from itself."""
        frame, t = event.frame, event.transformed
        if event.argument is None or frame.stage.staged or frame.module.is_test:
            return
        for loop, _ in bodies(frame):
            numbers = dict(compiled_numbers(event.value, every))
            if not loop.is_later_iteration():
                self.first[loop, event.node, event.parameter] = numbers
                continue
            first = self.first.get((loop, event.node, event.parameter), {})
            for path, number in numbers.items():
                name = path.rpartition(".")[2] or last_name(event.argument)
                if first.get(path, number) == number:
                    continue
                if not is_stepped(name, number, loop.node, frame, t.target, event.value):
                    continue
                where = f"`{path}` of `{event.parameter}`" if path else f"`{event.parameter}`"
                report(
                    event.argument,
                    f"`{t.label}` recompiles every iteration: {where} is a Python number that changes; pass an array",
                    reason=f"it is {first[path]:g} in the first iteration and {number:g} in the next; {t.why.explain(report.module)}",
                )
                return

    def check_fields(self, event: TracedArgumentEvent, value: Instance, report: Reporter) -> None:
        """A field that is not a leaf belongs to the compiled program: a static one, and for `filter_jit` any Python
        number."""
        frame = event.frame
        if event.argument is None or frame.stage.staged or frame.module.is_test:
            return
        declared = value.cls.all_fields()
        for loop in host_loops(frame):
            if frame.is_conditional_in(loop):
                return
            for name, given in fields_given(event.argument, loop.node, frame).items():
                static = name in declared and declared[name].static
                if event.transformed.kind == "filter_jit":
                    static = static or isinstance(value.fields.get(name), Static)
                    static = static or _is_number(given, value.cls, name)
                followed = follows(given, loop.node, frame) if static else ""
                if followed:
                    line = getattr(loop.node, "lineno", "?")
                    report(
                        event.argument,
                        f"`{event.transformed.label}` recompiles every iteration: the static field `{name}` varies with `{followed}`; make it a leaf",
                        reason=f"{event.transformed.why.explain(report.module)}, called in the loop at line {line}",
                    )
                    return
            if value.cls.kind != "nnx" or event.transformed.kind not in JIT_KINDS:
                continue
            for name, followed in attributes_stepped(event.argument, loop.node, frame):
                if isinstance(value.fields.get(name), Static):
                    report(
                        event.argument,
                        f"`{event.transformed.label}` recompiles: the number `{name}` of the module varies with `{followed}`; use `nnx.Variable`",
                        reason=f"a number in a module is static, and the loop at line {getattr(loop.node, 'lineno', '?')} changes it",
                    )
                    return

    def check_functions(self, event: TracedArgumentEvent, value: Instance, report: Reporter) -> None:
        """A function that the constructor of a module creates is another leaf, and another program, for each module."""
        frame, argument = event.frame, event.argument
        if argument is None or frame.stage.staged or frame.module.is_test:
            return
        name = own_function(value)
        found = loop_that_makes(value, argument, frame) if name else None
        if found is None:
            return
        owner, loop = found
        report(
            argument,
            f"`{event.transformed.label}` recompiles for each `{value.cls.name}`, whose `{name}` is a new function; make it a method",
            reason=f"`__init__` creates the function, and {place_of_loop(loop, owner)} creates the objects",
            severity=level(runs(owner, loop) * COMPILE),
        )

    def check_optimizer(
        self, event: StaticArgumentEvent | TracedArgumentEvent, every: bool, report: Reporter
    ) -> None:
        """Each call of `optax.adam` creates other functions, and so another program."""
        frame, argument = event.frame, event.argument
        if argument is None or frame.stage.staged or frame.module.is_test:
            return
        made = optimizer_in(event.value, every)
        loop = loop_of_optimizers(made, argument, frame) if made is not None else None
        if made is None or loop is None or any(part is event.transformed.node for part in walk(loop.node)):
            return
        report(
            argument,
            f"`{event.transformed.label}` recompiles for each new `{made.name}`: it holds new functions; create it once",
            reason=f"{place_of_loop(loop, frame)} creates it in each iteration; `optax.inject_hyperparams` lets its rate change",
            severity=level(runs(frame, loop) * COMPILE),
        )

    def check(
        self,
        event: StaticArgumentEvent | TracedArgumentEvent,
        why: str,
        report: Reporter,
        fix: FixRequest | None = None,
    ) -> None:
        frame, argument = event.frame, event.argument
        if argument is None or frame.stage.staged or frame.module.is_test:
            return
        if isinstance(event.value, Array) and event.value.staged:
            return
        if frame.function is not None and _AHEAD.search(frame.function.name.lower()):
            return
        for loop, body in bodies(frame):
            name = follows(argument, body, frame) if body is loop.node else follows_calls(argument, frame)
            if name or _is_new_function(argument, body):
                said = (
                    why.format(event.parameter, name)
                    if name
                    else f"static argument `{event.parameter}` is a new function each time; create it once"
                )
                self.tell(event, argument, said, loop, report, fix)
                return
        passed = follows_callers(argument, frame)
        if passed is not None:
            self.tell(event, argument, why.format(event.parameter, passed[0]), passed[1], report, fix)

    def tell(
        self,
        event: StaticArgumentEvent | TracedArgumentEvent,
        argument: ast.expr,
        said: str,
        loop: Loop,
        report: Reporter,
        fix: FixRequest | None,
    ) -> None:
        if self.told.setdefault(event.node, event.parameter) != event.parameter:
            return  # the call compiles once an iteration, for all of them
        if is_brief(loop, event.frame) and _sizes_arrays(event.transformed.target, event.parameter):
            return  # each size needs a program of its own
        report(
            argument,
            f"`{event.transformed.label}` recompiles every iteration: {said}",
            reason=f"{event.transformed.why.explain(report.module)}, called in {place_of_loop(loop, event.frame)}",
            fix=fix,
            severity=level(runs(event.frame, loop) * COMPILE),
        )


def _sizes_arrays(target: Value, parameter: str) -> bool:
    """Whether a function makes arrays of a size that it computes from a parameter, which cannot be traced then."""
    if not isinstance(target, Function):
        return False
    derived = {parameter}
    for statement in nodes_of(target.node, ast.Assign):
        if names_in(statement.value) & derived:
            derived |= {name for one in statement.targets for name in names_in(one)}
    return any(
        last_name(call.func) in SIZED | {"range", "reshape", "broadcast_to", "tile"}
        and names_in(call) & derived
        for call in nodes_of(target.node, ast.Call)
    )


def _is_number(given: ast.expr, cls: ClassValue, name: str) -> bool:
    """Whether a field is declared as a Python number, and its argument is one: arithmetic without a call of JAX or NumPy."""
    declared = cls.all_fields().get(name)
    annotation = declared.annotation if declared is not None else None
    if annotation is None or ast.unparse(annotation) not in ("float", "int"):
        return False
    calls = [dotted(part.func) for part in ast.walk(given) if isinstance(part, ast.Call)]
    return all(called in ("max", "min", "float", "int", "round", "abs") for called in calls)


_AHEAD = re.compile(r"(^|_)(pre_?compil|warm_?up|compile_all)")  # it is there to compile later calls


def _is_new_function(node: ast.expr, body: ast.AST) -> bool:
    """Whether each run of `body` creates another function object, and so another program."""
    if isinstance(node, ast.Name):
        if any(
            definition.name == node.id
            for definition in nodes_of(body, ast.FunctionDef)
            if definition is not body
        ):
            return True
        made = assigned_once(body).get(node.id)
        return made is not None and not isinstance(made, ast.Name) and _is_new_function(made, body)
    called = last_name(node.func) if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Lambda) or called == "partial"
