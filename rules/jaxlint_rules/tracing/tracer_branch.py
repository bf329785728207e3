"""Python control flow on a tracer."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, TestEvent
from jaxlint.api.values import Array
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import declare_static, only_staged, propose
from jaxlint_rules._reasons import certain_tracer, traced
from jaxlint_rules._static_sizes import static_size

_ERROR = "raises TracerBoolConversionError"
# What fails, if the operation's name and "a tracer" do not say it.
_WHAT = {
    "conditional expression": "`a if test else b` on a tracer",
    "==": "`==` of sequences that hold tracers",
    "chained comparison": "a chained comparison of tracers",
    "in": "`in` with a tracer",
    "filter": "`filter` on tracers",
    "comprehension condition": "`if` on a tracer in a comprehension",
}
_STATEMENTS = frozenset({"if", "while", "assert", "and", "or", "not", "match"})
# What to write instead.
_INSTEAD = {
    "if": "use `jnp.where` or `lax.cond`",
    "conditional expression": "use `jnp.where` or `lax.cond`",
    "while": "use `lax.while_loop`",
    "assert": "use `checkify.check` or `eqx.error_if`",
    "and": "use `jnp.logical_and`",
    "or": "use `jnp.logical_or`",
    "not": "use `jnp.logical_not`",
    "chained comparison": "join the comparisons with `&`",
    "in": "use `jnp.isin`",
    "match": "use `lax.switch`",
    "sorted": "use `jnp.sort` or `jnp.argsort`",
    "max": "use `jnp.max`",
    "min": "use `jnp.min`",
    "any": "use `jnp.any`",
    "all": "use `jnp.all`",
    "filter": "mask with `jnp.where`",
    "comprehension condition": "mask with `jnp.where`",
    "==": "use `jnp.array_equal`",
    "index": "compare with `==` and use `jnp.argmax`",
}


class TracerBranch(Rule):
    """Python control flow depends on a tracer.

    ## What it does
    Finds `if`, `while`, `assert`, `and`, `or`, `not`, conditional expressions, chained comparisons,
    `in`, `match`, `filter`, comprehension conditions and the builtins `any`, `all`, `min`, `max`
    and `sorted` that convert a tracer to a Python bool.

    ## Why is this bad?
    Under `jit`, `vmap`, `scan` and other transformations a tracer has no concrete value. JAX raises
    `TracerBoolConversionError`.

    ## Example
    ```python
    @jax.jit
    def relu(x):
        return x if x > 0 else 0.0
    ```

    ## Use instead
    ```python
    @jax.jit
    def relu(x):
        return jnp.where(x > 0, x, 0.0)
    ```
    Use `jax.lax.cond` if one branch is expensive, and `jax.lax.while_loop` for loops. Declare a
    parameter that is a Python flag in `static_argnames`. Check values with `checkify` or
    `eqx.error_if`.

    ## Fix safety
    Boolean operators, chained comparisons, and `max` and `min` of several values become array
    operations. This is safe where the function is only ever traced, because the test raised there.
    Elsewhere it is unsafe: callers on the host then get JAX arrays. It is unsafe, too, in a file
    that runs functions in order to see them fail, and in a project that names an error of tracers.

    `if` and conditional expressions become `jnp.where` if both sides are cheap and defined for all
    inputs. Otherwise they become `lax.cond`, because a division or root in the branch that is not
    selected would bring NaN into gradients. `while` becomes `lax.while_loop`. These fixes are
    unsafe:

    - Both branches, and all iterations, must have the same shapes and dtypes. `lax.cond` and
      `lax.while_loop` check this at trace time; `jnp.where` broadcasts and promotes.
    - `jnp.where` evaluates both sides. `lax.cond` traces both and runs one.
    - `while_loop` has no reverse-mode derivative.

    Branches that store, print, raise, `break`, or return on one side only are not rewritten; the
    finding gives the reason.

    In a Pallas kernel, an `if` that only stores into refs becomes a function under `pl.when`.

    A flag that a jitted function tests directly becomes a static argument. This is unsafe: callers
    that pass an array for it then fail, and each new value recompiles the function.

    ## When not to fix
    Branches in functions that are never traced are not reported. Code that catches the exception
    and takes another path is not reported either.

    ## References
    - [JAX: control flow and logical operators with JIT](https://docs.jax.dev/en/latest/control-flow.html)
    """

    code = "JAX101"
    name = "tracer-branch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "partly safe"

    def __init__(self) -> None:
        self.dispatched: dict[tuple[object, str], ast.AST] = {}

    def on_test(self, event: TestEvent, report: Reporter) -> None:
        value = event.value
        if not certain_tracer(value) or event.is_guarded():
            return
        assert isinstance(value, Array)
        name = _dispatches_on(event.node)
        if name:
            # `if order == 0: ... if order == 1: ...` is one mistake with one remedy.
            owner = event.frame.function.node if event.frame.function is not None else None
            if self.dispatched.setdefault((owner, name), event.node) is not event.node:
                return
        flag = "" if event.how == "while" or _is_a_default(event, report) else _flag(event.node, value)
        made = value.why.cause if flag and value.why is not None else None
        advice, fix = static_size(event, value)
        if flag:
            advice = f'; for a flag use `static_argnames="{flag}"`'
            fix = declare_static(made.node, made.module, flag) if made is not None else None
        elif not advice:
            in_kernel = event.how == "if" and event.frame.stage.within("pallas")
            instead = "use `pl.when`" if in_kernel else _INSTEAD.get(event.how, "")
            advice = f"; {instead}" if instead else ""
            fix = _fix(event, report)
        message = f"{_what(event.how)} {_ERROR}{advice}"
        report(event.node, message, reason=traced(event, value), fix=fix)


def _what(how: str) -> str:
    return _WHAT.get(how) or (f"`{how}` on a tracer" if how in _STATEMENTS else f"`{how}()` of tracers")


def _fix(event: TestEvent, report: Reporter) -> FixRequest | None:
    """Control flow may need other types, so that fix is unsafe; operators return the same truth values."""
    if event.how == "==":
        return None
    if event.how == "if" and event.frame.stage.within("pallas"):
        return propose(report, event.node, "branch-to-when", "Use `pl.when`", safe=False)
    if event.how in ("if", "conditional expression"):
        message = "Use `jnp.where` or `lax.cond`"
        return propose(report, event.node, "branch-to-select", message, safe=False)
    if event.how == "while":
        return propose(report, event.node, "while-to-while-loop", "Use `lax.while_loop`", safe=False)
    tested = _tested(event.node, report)
    if tested is not None:  # the operator is in the test of an `if`, which needs the truth too
        root, how = tested
        return propose(report, root, how, "Use `jnp.where`, `lax.cond` or `lax.while_loop`", safe=False)
    if event.how in ("and", "or", "not", "chained comparison", "in"):
        message = "Use array operators"
        return propose(report, event.node, "boolean-to-array", message, safe=only_staged(event.frame, report))
    if event.how in ("max", "min", "any", "all"):
        message = f"Use `jnp.{event.how}`"
        return propose(report, event.node, "boolean-to-array", message, safe=only_staged(event.frame, report))
    return None


def _tested(node: ast.AST, report: Reporter) -> tuple[ast.AST, str] | None:
    """The whole test of the `if` or `while` with the operand `node`, and its codemod."""
    for parent in report.module.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)):
            return (node, "branch-to-select") if parent.test is node else None
        if isinstance(parent, ast.While):
            return (node, "while-to-while-loop") if parent.test is node else None
        if not isinstance(parent, ast.BoolOp) and not (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        ):
            return None
        node = parent
    return None


def _flag(test: ast.AST, value: Array) -> str:
    """The parameter of a jitted function that a test reads alone, or compares with a constant, otherwise ""."""
    if value.why is None or not value.why.parameter or (value.made is not None and value.made.args):
        return ""  # a value computed from a parameter is not a flag
    simple = isinstance(test, ast.Name) or bool(_dispatches_on(test))
    return value.why.parameter if simple else ""


def _is_a_default(event: TestEvent, report: Reporter) -> bool:
    """Whether it is `x or 1e-3` with a quantity `x`: the fallback is a number, or is computed."""
    around = report.module.parents.get(event.node)
    if not isinstance(around, ast.BoolOp) or not isinstance(around.op, ast.Or):
        return False
    last = around.values[-1]
    number = isinstance(last, ast.Constant) and type(last.value) in (int, float)
    return (number or isinstance(last, (ast.BinOp, ast.Call))) and _tested(event.node, report) is None


def _dispatches_on(test: ast.AST) -> str:
    """The name that a test compares with a constant for equality, otherwise ""."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        if isinstance(test.left, ast.Name) and isinstance(test.comparators[0], ast.Constant):
            return test.left.id
    return ""
