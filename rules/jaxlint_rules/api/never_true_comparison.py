"""Comparisons with types and tuples that no JAX value equals."""

from __future__ import annotations

import ast

from jaxlint.api import ComparisonEvent, Reporter, Rule
from jaxlint.api.syntax import dotted
from jaxlint.api.tables import canonical
from jaxlint.api.values import (
    External,
    ExternalMethod,
    ExternalObject,
    Static,
    TupleValue,
    Value,
    is_spec,
    short_source,
)
from jaxlint.finding import Severity

_ARRAY_TYPES = frozenset({"jax.Array", "jax.numpy.ndarray", "jax.core.Tracer"})


class NeverTrueComparison(Rule):
    """A comparison with `jax.Array` or a `PartitionSpec` is never true.

    ## What it does
    Finds `type(x) is jax.Array`, `type(x) == jnp.ndarray`, and a `PartitionSpec` compared with a
    tuple by `==` or `!=`.

    ## Why is this bad?
    `jax.Array` is an abstract class: the type of an array is `ArrayImpl`, and tracers have other
    types. Since JAX 0.10 a `PartitionSpec` is not a tuple, so `P("data") == ("data",)` is False.
    The branch under such a test never runs, without an exception.

    ## Example
    ```python
    if type(x) is jax.Array:
        x = jax.device_get(x)
    ```

    ## Use instead
    ```python
    if isinstance(x, jax.Array):
        x = jax.device_get(x)
    ```
    Compare specs with `spec == P("data")` or `tuple(spec) == ("data",)`.

    ## Fix safety
    There is no automatic fix: a branch that never ran would run.

    ## When not to fix
    If you do not want the branch, delete it.

    ## References
    - [jax.Array](https://docs.jax.dev/en/latest/_autosummary/jax.Array.html)
    """

    code = "JAX814"
    name = "never-true-comparison"
    category = "api"
    severity = Severity.WARNING

    def on_comparison(self, event: ComparisonEvent, report: Reporter) -> None:
        if not isinstance(event.node, ast.Compare) or event.is_caught():
            return
        asked = event.node.left
        kind = _array_type(event.right)
        if kind and isinstance(event.op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            if isinstance(asked, ast.Call) and dotted(asked.func) == "type" and len(asked.args) == 1:
                wanted = "jax.core.Tracer" if kind.endswith("Tracer") else "jax.Array"
                test = f"isinstance({short_source(asked.args[0])}, {wanted})"
                report(
                    event.node,
                    f"`{short_source(event.node)}` is always False; use `{test}`"
                    if isinstance(event.op, (ast.Is, ast.Eq))
                    else f"`{short_source(event.node)}` is always True; use `not {test}`",
                    reason=f"`{kind}` is only a base class: no array or tracer has exactly this type",
                )
        elif isinstance(event.op, (ast.Eq, ast.NotEq)) and _is_spec_and_tuple(event.left, event.right):
            never = "never" if isinstance(event.op, ast.Eq) else "always"
            report(
                event.node,
                f"`{short_source(event.node)}` is {never} true: a `PartitionSpec` is not a tuple; compare with `P(...)`",
                reason="since jax 0.10 a `PartitionSpec` equals only another one",
            )


def _array_type(value: Value) -> str:
    if not isinstance(value, External):
        return ""
    name = canonical(value.name)
    return name if name in _ARRAY_TYPES else ""


def _is_spec_of_sharding(value: Value) -> bool:
    """`x.sharding.spec`, or the spec of a `NamedSharding`."""
    if not isinstance(value, ExternalMethod) or value.name != "spec":
        return False
    owner = value.receiver
    if isinstance(owner, ExternalObject):
        return owner.name == "jax.sharding.NamedSharding"
    return isinstance(owner, Static) and owner.kind == "sharding"


def _is_spec_and_tuple(left: Value, right: Value) -> bool:
    for spec, other in ((left, right), (right, left)):
        if is_spec(spec) or _is_spec_of_sharding(spec):
            return isinstance(other, TupleValue) and other.cls is None
    return False
