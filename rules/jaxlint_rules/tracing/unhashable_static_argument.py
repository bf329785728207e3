"""Static arguments that cannot be hashed."""

from __future__ import annotations

import ast

from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import StaticArgumentEvent, StaticFieldEvent
from jaxlint.staging.values import Array, DictValue, Instance, ListValue, NumpyArray, Static, Value


class UnhashableStaticArgument(Rule):
    """A static argument cannot be hashed.

    ## What it does
    Finds lists, dicts, sets, arrays and instances of non-frozen dataclasses that are passed for a parameter declared
    static, and arrays in pytree fields declared static (`pytree_node=False`, `eqx.field(static=True)`).

    ## Why is this bad?
    Compiled programs are cached by the hash of static values: `ValueError: Non-hashable static arguments`.

    ## Example
    ```python
    @partial(jax.jit, static_argnames="shape")
    def zeros(shape):
        return jnp.zeros(shape)

    zeros([2, 3])
    ```

    ## Use instead
    ```python
    zeros((2, 3))
    ```
    For configurations use a frozen dataclass, for arrays an ordinary (traced) argument.

    ## Fix safety
    Safe where the argument is a list written at the call and becomes a tuple, or a variable with a list or set of hashable
    items, which is handed over as `tuple(sizes)`: the call raised before.

    ## When not to fix
    Tuples, strings, numbers, functions and frozen dataclasses are hashable, and not reported.

    ## References
    - [jax.jit: static_argnums](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX107"
    name = "unhashable-static-argument"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "safe"
    examples = (
        Example(
            "a list at the call",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="shape")
def zeros(shape):
    return jnp.zeros(shape)

def main():
    return zeros([2, 3])  # finding
""",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="shape")
def zeros(shape):
    return jnp.zeros(shape)

def main():
    return zeros((2, 3))  # finding
""",
        ),
        Example(
            "a list in a variable",
            """
from functools import partial
import jax

SIZES = [2, 3]

@partial(jax.jit, static_argnums=1)
def reshape(x, sizes):
    return x.reshape(sizes)

def main(x):
    return reshape(x, SIZES)  # finding
""",
            """
from functools import partial
import jax

SIZES = [2, 3]

@partial(jax.jit, static_argnums=1)
def reshape(x, sizes):
    return x.reshape(sizes)

def main(x):
    return reshape(x, tuple(SIZES))  # finding
""",
        ),
        Example(
            "a dict, an array and a dataclass",
            """
import dataclasses
import jax
import jax.numpy as jnp

@dataclasses.dataclass
class Config:
    width: int = 4

def apply(x, options, table, config):
    return x

fast = jax.jit(apply, static_argnums=(1, 2, 3))

def main(x):
    options = {"width": 3}
    return fast(x, options, jnp.ones(3), Config())  # finding
""",
        ),
        Example(
            "hashable static arguments and traced lists",
            """
import dataclasses
from functools import partial
import jax
import jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4

@partial(jax.jit, static_argnums=(2,), static_argnames=("config", "act"))
def forward(params, x, depth, config, act=jnp.tanh):
    for layer in params:
        x = act(x @ layer)
    return x

def main(x):
    return forward([jnp.eye(3)], x, 2, config=Config(), act=jax.nn.relu), forward([x], x, (1, 2), Config())
""",
        ),
    )

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        kind = unhashable(event.value)
        if kind is None or (isinstance(event.value, Array) and event.value.staged):
            return
        place = event.argument or event.node
        fix = None
        if isinstance(event.argument, ast.List):
            step = Step("tuple-static-argument", report.path, report.span(event.argument))
            fix = FixRequest(Safety.SAFE, "Pass a tuple", (step,))
        elif isinstance(event.argument, (ast.Name, ast.Attribute)) and (
            function := _hashable_twin(event.value)
        ):
            step = Step("wrap-call", report.path, report.span(event.argument), {"function": function})
            fix = FixRequest(Safety.SAFE, f"Pass a {function}", (step,))
        report(
            place,
            f"`{event.parameter}` of `{event.transformed.label}` is static, and {kind} cannot be hashed",
            reason=f"{event.transformed.why.explain(report.module)}, with `{event.parameter}` among its static arguments",
            fix=fix,
        )

    def on_static_field(self, event: StaticFieldEvent, report: Reporter) -> None:
        if not isinstance(event.value, (Array, NumpyArray)):
            return  # lists and dicts are compared, which works
        report(
            event.node,
            f"the static field `{event.name}` of `{event.cls.name}` holds an array; a second instance cannot be compared",
            reason=f"an instance is passed to `{event.transformed.label}`, whose cache compares static fields with `==`; "
            f"{event.transformed.why.explain(report.module)}",
            severity=Severity.WARNING,
        )


_HASHABLE = {"list": "tuple", "set": "frozenset"}


def _hashable_twin(value: Value) -> str | None:
    """What makes a hashable twin of a list or set of hashable items; None for anything else."""
    if not isinstance(value, ListValue) or not value.items:
        return None
    hashable = all(isinstance(item, Static) and unhashable(item) is None for item in value.items)
    return _HASHABLE.get(value.kind) if hashable else None


def unhashable(value: Value) -> str | None:
    """What makes `value` unhashable, in words; None when it may be hashable."""
    if isinstance(value, ListValue) and value.kind in ("list", "set"):
        return f"a {value.kind}"
    if isinstance(value, DictValue):
        return "a dict"
    if isinstance(value, NumpyArray) and value.fresh:
        return "a NumPy array"
    if isinstance(value, Array) and value.certain and not value.tree:
        return "an array"
    if isinstance(value, Instance) and value.cls.kind == "dataclass" and not _hashable_dataclass(value):
        return f"a `{value.cls.name}` (a dataclass that is not frozen)"
    return None


def _hashable_dataclass(value: Instance) -> bool:
    if value.cls.lookup("__hash__") is not None:
        return True
    for decorator in value.cls.node.decorator_list:
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                if keyword.arg in ("frozen", "unsafe_hash", "eq"):
                    return True
    return not any("dataclass" in ast.unparse(d) for d in value.cls.node.decorator_list)
