"""Python control flow on a value that is a tracer."""

from __future__ import annotations

import ast

from jaxlint.finding import FixRequest, Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import TestEvent
from jaxlint.staging.values import Array
from jaxlint_rules._fixes import declare_static, only_staged, propose
from jaxlint_rules._reasons import certain_tracer, guarded, traced
from jaxlint_rules._static_sizes import static_size

_WORDS = {
    "if": "`if` asks for the truth of a traced value",
    "while": "`while` asks for the truth of a traced value",
    "assert": "`assert` asks for the truth of a traced value",
    "conditional expression": "`a if test else b` asks for the truth of a traced value",
    "and": "`and` asks for the truth of a traced value",
    "or": "`or` asks for the truth of a traced value",
    "not": "`not` asks for the truth of a traced value",
    "==": "`==` of two sequences asks for the truth of each comparison of their items",
    "chained comparison": "a chained comparison asks for the truth of its first, traced part",
    "in": "`in` compares with a traced value and asks for the truth of the result",
    "match": "`match` compares with a traced value and asks for the truth of the result",
    "filter": "`filter` asks for the truth of a traced value",
    "comprehension condition": "the comprehension's `if` asks for the truth of a traced value",
}

# What to write instead where there is no rewrite that would show it.
_REMEDIES = {
    "assert": "Check values with `jax.experimental.checkify` or `eqx.error_if`",
    "match": "Choose by `jax.lax.switch`",
    "sorted": "Sort an array, with `jnp.sort` or `jnp.argsort`",
    "filter": "Keep all items and mask them, with `jnp.where`",
    "comprehension condition": "Keep all items and mask them, with `jnp.where`",
    "==": "Compare arrays, with `jnp.array_equal`",
}


class TracerBranch(Rule):
    """Python control flow on a traced value.

    ## What it does
    Finds `if`, `while`, `assert`, `and`, `or`, `not`, conditional expressions, chained comparisons, `in`, `match` and
    the builtins `any`, `all`, `min`, `max` and `sorted` where they need the truth of a value that JAX traces.

    ## Why is this bad?
    Under `jit`, `vmap`, `scan` and the like the value is not known yet: JAX raises `TracerBoolConversionError`.

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
    Use `jax.lax.cond` where one branch is expensive, `jax.lax.while_loop` for loops, `static_argnames` for a parameter
    that is an ordinary Python flag, and `checkify` or `eqx.error_if` for checks of values.

    ## Fix safety
    Boolean operators, chained comparisons and `max` and `min` of several values are rewritten for arrays. That is safe
    where the function is only ever staged, since the test raised there; elsewhere it is unsafe, since callers on the
    host then get arrays of JAX.

    `if` and conditional expressions become `jnp.where` where both sides are cheap and defined everywhere, else
    `lax.cond` (a division or root that is not chosen would bring NaN into gradients); `while` becomes `lax.while_loop`.
    These are unsafe: both branches, and all iterations, must have the same shapes and dtypes, which `lax.cond` and
    `lax.while_loop` check when the function is traced, while `jnp.where` broadcasts and promotes; `jnp.where` evaluates both
    sides, `lax.cond` only one, but traces both; and a `while_loop` has no reverse-mode derivative. Branches that store, print, raise, `break` or
    return on one side only are left alone, with the reason.

    In a Pallas kernel an `if` that only stores into references becomes a function under `pl.when`.

    A flag that a jitted function asks for by itself is declared static. That is unsafe: callers that pass an array for it
    then fail, and each new value of it compiles the function anew.

    ## When not to fix
    A branch that only ever runs on concrete values (a function that is never staged) is not reported. Code that
    catches the error and has another way is not reported either.

    ## References
    - [JAX: control flow and logical operators with JIT](https://docs.jax.dev/en/latest/control-flow.html)
    """

    code = "JAX101"
    name = "tracer-branch"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "partly safe"
    examples = (
        Example(
            "a branch in a helper of a jitted function",
            """
import jax
import jax.numpy as jnp

def clip(x, limit):
    if jnp.max(x) > limit:  # finding
        return x / jnp.max(x)
    return x

@jax.jit
def step(x):
    return clip(x, 1.0) * 2
""",
            """
import jax
import jax.numpy as jnp

def clip(x, limit):
    return jax.lax.cond(jnp.max(x) > limit, lambda: x / jnp.max(x), lambda: x)

@jax.jit
def step(x):
    return clip(x, 1.0) * 2
""",
        ),
        Example(
            "while, assert, boolean operators and max under scan",
            """
import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    assert carry > 0  # finding
    while carry < x:  # finding
        carry = carry * 2
    both = carry > 0 and x > 0  # finding
    return max(carry, x), both  # finding

def run(xs):
    return lax.scan(body, jnp.float32(1.0), xs)
""",
            """
import jax
import jax.numpy as jnp
from jax import lax

def body(carry, x):
    assert carry > 0

    def cond_fun(carry):
        return carry < x

    def body_fun(carry):
        carry = carry * 2
        return carry

    carry = lax.while_loop(cond_fun, body_fun, carry)
    both = (carry > 0) & (x > 0)
    return jnp.maximum(carry, x), both

def run(xs):
    return lax.scan(body, jnp.float32(1.0), xs)
""",
        ),
        Example(
            "a quantity with a fallback, which is no flag",
            """
import jax
import jax.numpy as jnp

@jax.jit
def scaled(x, rate, limit=None):
    rate = rate or 1e-3  # finding
    limit = limit or 1.0
    return jnp.minimum(rate * x, limit)

print(scaled(jnp.ones(3), 0.1))
""",
        ),
        Example(
            "a flag that the caller passes through jit",
            """
import jax

def scale(x, double):
    if double:  # finding
        return x * 2
    return x

fast = jax.jit(scale)

def main(x):
    return fast(x, True)
""",
            """
import jax

def scale(x, double):
    if double:
        return x * 2
    return x

fast = jax.jit(scale, static_argnames="double")

def main(x):
    return fast(x, True)
""",
        ),
        Example(
            "what libraries ask for: a class that checks itself, a schedule, and sequences that are compared",
            """
from typing import NamedTuple
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

class Halo(eqx.Module):
    mass: jax.Array
    order: int = 2

    def __check_init__(self):
        if self.order not in (1, 2):
            raise ValueError(self.order)
        if not 0.0 < self.mass < 1.0:  # finding
            raise ValueError("mass")

class State(NamedTuple):
    labels: jax.Array
    step: int

def schedule(peak):
    def value(count):
        if count < 100:  # finding
            return peak
        return peak / 2
    return value

def on_the_host(count):
    return 0.1 if count < 100 else 0.05

optimizer = optax.chain(optax.clip(1.0), optax.adam(schedule(1e-3)))

@jax.jit
def step(params, state, old):
    halo = Halo(jnp.exp(params))
    new = State(jnp.argsort(params), 1)
    same = new == old  # finding
    sizes = (params.shape[0], 2) == (3, 2) and new == new
    updates, state = optimizer.update(params, state)
    return halo, same, sizes, updates, state

def eager(params, state, old):
    Halo(jnp.exp(params))
    optax.sgd(on_the_host).update(params, state)
    return step(params, state, State(old, 0))
""",
        ),
        Example(
            "searches in sequences, an optimiser of one's own, and results that have a mode",
            """
from typing import NamedTuple
import jax
import jax.numpy as jnp
import optax

LEVELS = [1, 2, 4]
NAMES = ["first", "second"]

class Count(NamedTuple):
    count: jax.Array

def every(period):
    def init(params):
        return Count(jnp.zeros([], jnp.int32))

    def update(updates, state, params=None):
        if params is None:
            raise ValueError("params")
        if state.count % period == 0:  # finding
            updates = jax.tree.map(jnp.zeros_like, updates)
        return updates, Count(state.count + 1)

    return optax.GradientTransformation(init, update)

optimizer = optax.chain(optax.sgd(0.1), every(2))

@jax.jit
def step(params, state, resolution, name="second"):
    level = LEVELS.index(jnp.abs(resolution))  # finding
    place = NAMES.index(name) + (1, 2).count(params.ndim)
    smooth = jnp.convolve(params, jnp.ones(3), mode="same")
    loud = [value for value in smooth if value > 1]  # finding
    updates, state = optimizer.update(params, state, params)
    return level, place, loud, updates, state

def eager(params, state):
    return every(3).update(params, state, params)
""",
        ),
        Example(
            "static things may be branched on",
            """
from functools import partial
import jax
import jax.numpy as jnp

USE_BIAS = True

@partial(jax.jit, static_argnames=("mode",))
def layer(x, w, mode, bias=None):
    if mode == "relu":
        x = jnp.maximum(x, 0)
    if bias is not None:
        x = x + bias
    if USE_BIAS and x.ndim == 2 and x.shape[0] > 1:
        x = x[1:]
    if isinstance(w, tuple) or len(x) > 3:
        x = x * 2
    return x @ w if x.dtype == jnp.float32 else x
""",
        ),
        Example(
            "the size of a grid, settings of a function with derivatives of its own, an object that is compared",
            """
from dataclasses import dataclass
from functools import partial
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    if pl.num_programs(0) == 1:
        o_ref[...] = x_ref[...]
    if pl.program_id(0) == 0:  # finding
        o_ref[...] = 2 * x_ref[...]

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(1,))(x)

@partial(jax.custom_vjp, nondiff_argnums=tuple(range(1, 20)))
def cut(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag):
    return x

def forward(x, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag):
    return x, (x,)

def backward(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, flag, kept, cotangent):
    if flag:
        return (-cotangent,)
    return (cotangent,)

cut.defvjp(forward, backward)

@jax.jit
def step(x):
    return cut(x, *[0] * 18, True)

@dataclass
class Scales:
    kernel: object = None

NONE = Scales()
OTHER = input()

@jax.jit
def dense(x, scales):
    if scales == NONE or scales == OTHER:
        return x
    if x == 0:  # finding
        return -x
    return x * scales.kernel

def main(given):
    return dense(jnp.float32(1), given()), run(jnp.ones(8)), step(jnp.ones(3))
""",
        ),
        Example(
            "eager differentiation keeps values",
            """
import jax

def f(x):
    if x > 0:
        return x * x
    return -x

def slope(x):
    return jax.grad(f)(x)
""",
        ),
        Example(
            "unmapped arguments of vmap keep their values",
            """
import jax

def loss(x, delta):
    if delta > 0:
        return x * delta
    return x

def batch(xs):
    return jax.vmap(loss, in_axes=(0, None))(xs, 0.5)
""",
        ),
        Example(
            "a default that the caller leaves out stays Python",
            """
import jax

@jax.jit
def smooth(x, keep=True):
    if keep:
        return x
    return x * 0.5

def main(x):
    return smooth(x)
""",
        ),
        Example(
            "properties and methods of a NamedTuple",
            """
from typing import NamedTuple
import jax
import jax.numpy as jnp

class Walker(NamedTuple):
    position: jax.Array
    legs: int = 2

    @property
    def fallen(self):
        return self.position[2] < 0.3

    @property
    def planar(self):
        return self.position.ndim == 1

    def high(self):
        return self.position[2] > 2.0

def step(walker, torque):
    walker = walker._replace(position=walker.position + torque)
    reward = 0.0 if walker.fallen else 1.0  # finding
    return walker, reward if walker.planar else -reward

@jax.jit
def jump(walker: Walker, torque):
    if walker.high():  # finding
        return walker.position
    return walker.position + torque

def main():
    torques = jnp.ones((5, 3))
    walker, rewards = jax.lax.scan(step, Walker(torques[0]), torques)
    if walker.fallen or walker.high():
        return jump(walker, torques[0])
    return rewards
""",
        ),
        Example(
            "whether a buffer is deleted, and which norm is meant, Python knows",
            """
import jax
import jax.numpy as jnp

table = jnp.arange(3)

def norm(x, p=float("inf")):
    if p == float("inf"):
        return jnp.max(x)
    if jnp.all(x == 0):  # finding
        return x[0]
    return jnp.sum(x)

@jax.jit
def kept(x):
    if table.is_deleted():
        return x
    return norm(x, p=1)

@jax.jit
def largest(x):
    return least(x, jnp.inf) + table[0]

def least(x, p):
    if p == float("inf"):
        return jnp.max(x)
    if jnp.all(x == 0):
        return x[0]
    return jnp.sum(x)
""",
        ),
        Example(
            "a carry that begins as infinity",
            """
import math
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

def power_iteration(a, tol=1e-5):
    def unfinished(state):
        i, _, change = state
        return change > tol and i < 100  # finding

    def multiply(state):
        i, v, _ = state
        w = a @ v
        return i + 1, w, jnp.linalg.norm(w - v)

    return lax.while_loop(unfinished, multiply, (0, jnp.ones(3), jnp.inf))

def bits(a, tol=1e-5):
    state = lax.while_loop(
        lambda state: (state[1] > tol) & (state[0] < 100), lambda state: (state[0] + 1, state[1] / 2), (0, np.inf)
    )
    return state

def on_host(a, tol=1e-5):
    i, change, v = 0, jnp.inf, jnp.ones(3)
    while change > tol and i < 100 and change != math.pi:
        w = a @ v
        i, change, v = i + 1, float(jnp.linalg.norm(w - v)), w
    return v

print(power_iteration(jnp.eye(3)), bits(jnp.eye(3)), on_host(jnp.eye(3)))
""",
        ),
    )

    def __init__(self) -> None:
        self.dispatched: dict[tuple[object, str], ast.AST] = {}

    def on_test(self, event: TestEvent, report: Reporter) -> None:
        value = event.value
        if not certain_tracer(value) or guarded(event):
            return
        assert isinstance(value, Array)
        name = _dispatches_on(event.node)
        if name:
            # `if order == 0: ... if order == 1: ...` is one mistake with one remedy.
            owner = event.frame.function.node if event.frame.function is not None else None
            if self.dispatched.setdefault((owner, name), event.node) is not event.node:
                return
        message = _WORDS.get(
            event.how, f"`{event.how}()` compares traced values and asks for the truth of the result"
        )
        message = f"{message}; it has none while JAX traces"
        flag = "" if event.how == "while" or _is_a_default(event, report) else _flag(event.node, value)
        if flag:
            message += f'. If `{flag}` is an ordinary flag, declare it static: `static_argnames="{flag}"`'
        made = value.why.cause if flag and value.why is not None else None
        advice, fix = static_size(event, value)
        if flag:
            fix = declare_static(made.node, made.module, flag) if made is not None else None
        elif advice:
            message += advice
        else:
            fix = _fix(event, report)
            if event.how in _REMEDIES:
                message += f". {_REMEDIES[event.how]}"
        report(event.node, message, reason=traced(event, value), fix=fix)


def _fix(event: TestEvent, report: Reporter) -> FixRequest | None:
    """Control flow may have to change its types, and is unsafe; operators give the same truth values."""
    if event.how == "==":
        return None
    if event.how == "if" and event.frame.stage.within("pallas"):
        return propose(report, event.node, "branch-to-when", "Run it under `pl.when`", safe=False)
    if event.how in ("if", "conditional expression"):
        message = "Choose by `jnp.where` or `lax.cond`"
        return propose(report, event.node, "branch-to-select", message, safe=False)
    if event.how == "while":
        return propose(report, event.node, "while-to-while-loop", "Loop by `lax.while_loop`", safe=False)
    tested = _tested(event.node, report)
    if tested is not None:  # the operator stands in the test of an `if`, which asks as well
        root, how = tested
        return propose(report, root, how, "Choose or loop by functions of JAX", safe=False)
    if event.how in ("and", "or", "not", "chained comparison", "in"):
        message = "Use the operators of arrays"
        return propose(report, event.node, "boolean-to-array", message, safe=only_staged(event.frame))
    if event.how in ("max", "min", "any", "all"):
        message = f"Use the `{event.how}` of jax.numpy"
        return propose(report, event.node, "boolean-to-array", message, safe=only_staged(event.frame))
    return None


def _tested(node: ast.AST, report: Reporter) -> tuple[ast.AST, str] | None:
    """The whole test of the `if` or `while` that `node` is an operand of, with its codemod."""
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
    """The parameter of a jitted function that a test asks for by itself, or compares with a constant, else ""."""
    if value.why is None or not value.why.parameter or (value.made is not None and value.made.args):
        return ""  # something computed from a parameter is no flag
    simple = isinstance(test, ast.Name) or bool(_dispatches_on(test))
    return value.why.parameter if simple else ""


def _is_a_default(event: TestEvent, report: Reporter) -> bool:
    """Whether it is `x or 1e-3`, where `x` is a quantity: the fallback is a number, or is computed."""
    around = report.module.parents.get(event.node)
    if not isinstance(around, ast.BoolOp) or not isinstance(around.op, ast.Or):
        return False
    last = around.values[-1]
    number = isinstance(last, ast.Constant) and type(last.value) in (int, float)
    return (number or isinstance(last, (ast.BinOp, ast.Call))) and _tested(event.node, report) is None


def _dispatches_on(test: ast.AST) -> str:
    """The name that a test compares with a constant for equality, else ""."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        if isinstance(test.left, ast.Name) and isinstance(test.comparators[0], ast.Constant):
            return test.left.id
    return ""
