"""Generators, dict views and sets in place of a pytree."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, CarryEvent, Reporter, Rule, TracedArgumentEvent, concerns
from jaxlint.api.syntax import dotted
from jaxlint.api.values import (
    DictValue,
    Instance,
    ListValue,
    Transformed,
    TupleValue,
    Unknown,
    Value,
    constant,
)
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._pytrees import function_leaf, untraceable

_UNFILTERED = frozenset({"jax.grad", "jax.value_and_grad", "jax.jit"})
# Words of programs that pass parts of models: what they pass may hold no function.
_SPLITTING = ("partition(", "combine(")
_KINDS = {"generator": "a generator", "iterator": "an iterator or dict view", "set": "a set"}
_LAZY = frozenset({"map", "filter", "zip", "reversed", "enumerate"})
_TREE_FUNCTIONS = (
    "map",
    "leaves",
    "flatten",
    "structure",
    "reduce",
    "all",
    "leaves_with_path",
    "map_with_path",
)
# By function: the position and name of its tree parameter.
_TREES = {
    **{
        f"jax.tree.{name}": (1 if "map" in name or name == "reduce" else 0, "tree")
        for name in _TREE_FUNCTIONS
    },
    "jax.tree_util.tree_map_with_path": (1, "tree"),
    "jax.tree_util.tree_flatten_with_path": (0, "tree"),
    "jax.lax.scan": (1, "init"),
    "jax.lax.while_loop": (2, "init_val"),
    "jax.lax.fori_loop": (3, "init_val"),
    "optax.global_norm": (0, "updates"),
    "optax.apply_updates": (0, "params"),
    "jax.flatten_util.ravel_pytree": (0, "pytree"),
}
# They iterate over their argument more than once, or need its length.
_JOINS = {  # and the error that they raise
    "jax.numpy.array": "TypeError",
    "jax.numpy.asarray": "TypeError",
    "jax.numpy.stack": "TypeError",
    "jax.numpy.concatenate": "ValueError",
    "jax.numpy.hstack": "IndexError",
    "jax.numpy.vstack": "ValueError",
}
_CONVERTS = frozenset({"jax.numpy.array", "jax.numpy.asarray"})


class NotAPytree(Rule):
    """A generator, a dict view, a set or an unregistered object is passed as a pytree.

    ## What it does
    Finds generators, dict views such as `d.values()`, and sets that are passed to jitted functions,
    to `jax.tree.map` and similar functions, as the carry of `lax.scan` and other loops, or to
    `jnp.array`, `jnp.stack` and other functions that join arrays. Also finds loops of `lax` whose
    carry contains an object of a class that is not registered as a pytree.

    It also finds `jax.grad`, `jax.value_and_grad` and `jax.jit` of an equinox model that holds a
    function, as `eqx.nn.MLP` holds its activation.

    ## Why is this bad?
    They are not pytrees. A jitted function raises
    `TypeError: Error interpreting argument to ... as an abstract array`. `jax.tree.map` treats the
    whole object as one leaf, so its function receives a generator. `jnp.stack` needs a length, and
    `jnp.array` needs numbers.

    ## Example
    ```python
    norm = global_norm(params.values())
    ```

    ## Use instead
    ```python
    norm = global_norm(list(params.values()))
    ```
    Or pass the dict itself.

    ## Fix safety
    There is no automatic fix: often the dict itself is meant.

    ## When not to fix
    Always fix it: the call raises, or sees a single leaf.

    ## References
    - [JAX: pytrees](https://docs.jax.dev/en/latest/pytrees.html)
    """

    code = "JAX815"
    name = "not-a-pytree"
    category = "api"
    severity = Severity.ERROR
    follows_calls = True

    def __init__(self) -> None:
        self.carries: list[CarryEvent] = []

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        if not event.is_guarded(convention=False):
            self.carries.append(event)

    def finish(self, report: Reporter) -> None:
        """Carries: which classes have subclasses is known at the end."""
        for event in self.carries:
            what = untraceable(event.init) if _holds_object(event.init) else ""
            if what:
                report.event = event
                report(
                    event.node,
                    f"`{event.api}` cannot carry {what}: it raises TypeError; register the class",
                    reason="the leaves of a carry are arrays, and JAX flattens registered classes only",
                )

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        what = _kind(event.value)
        if what and event.argument is not None and not event.is_caught() and event.transformed.kind == "jit":
            report(
                event.argument,
                f"{what} is not a pytree, so the jitted `{event.transformed.label}` raises TypeError; pass a list",
                reason=f"{event.transformed.why.explain(report.module)}; jit takes arrays in lists, tuples and dicts",
            )

    @concerns(*_TREES, *_JOINS, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if isinstance(event.callee, Transformed):
            self.check_views(event, event.callee, report)
            self.check_functions(event, event.callee, report)
            return
        if event.name in _JOINS:
            self.check_join(event, report)
            return
        position, keyword = _TREES.get(event.name, (0, ""))
        given = argument(event, position, keyword)
        what = _kind(given) if given is not None else ""
        if not what or event.is_caught():
            return
        fails = event.name.startswith("jax.lax.")
        short = event.name.replace("jax.lax", "lax")
        report(
            event.node,
            f"{what} is not a pytree, "
            + (
                f"so `{short}` fails; pass a list"
                if fails
                else f"so `{short}` takes it as one leaf; pass a list"
            ),
            reason="lists, tuples and dicts are pytrees; iterators, views and sets are not",
            severity=Severity.ERROR if fails else Severity.WARNING,
        )

    def check_join(self, event: CallEvent, report: Reporter) -> None:
        """`jnp.stack` and the like accept a dict view, which has a length; `jnp.array` only accepts lists and tuples."""
        what = _kind(event.args[0]) if event.args else ""
        node = event.node.args[0] if isinstance(event.node, ast.Call) and event.node.args else None
        if not what or event.is_caught() or isinstance(node, ast.Starred):
            return
        known = isinstance(node, ast.GeneratorExp) or (
            isinstance(node, ast.Call) and dotted(node.func) in _LAZY
        )
        if event.name in _CONVERTS or (known and what != "a set"):
            short = event.name.replace("jax.numpy", "jnp")
            report(
                event.node,
                f"`{short}` of {what} raises {_JOINS[event.name]}; pass a list",
                reason="JAX converts lists and tuples, and no other iterables"
                if event.name in _CONVERTS
                else "an iterator has no length, and can be read only once",
            )

    def check_views(self, event: CallEvent, transformed: Transformed, report: Reporter) -> None:
        """Views of an object that is not known to be a dict: nothing else has such a method."""
        if transformed.kind != "jit" or not isinstance(event.node, ast.Call) or event.is_caught():
            return
        for node, value in zip(event.node.args, event.args, strict=False):
            if isinstance(node, ast.Starred):
                return
            if isinstance(value, Unknown) and _is_view(node):
                report(
                    node,
                    f"a dict view is not a pytree, so the jitted `{transformed.label}` raises TypeError; pass a list",
                    reason=f"{transformed.why.explain(report.module)}; jit takes arrays in lists, tuples and dicts",
                    severity=Severity.WARNING,
                )

    def check_functions(self, event: CallEvent, transformed: Transformed, report: Reporter) -> None:
        """Models of equinox with functions among their leaves, which only the filtered transformations take."""
        if transformed.api not in _UNFILTERED or event.is_caught() or event.is_guarded(convention=False):
            return
        if "**" in event.kwargs or any("static" in name for name in transformed.options):
            return
        if any(word in report.module.source.text for word in _SPLITTING):
            return  # the model may be its arrays alone
        wanted: object = None
        if transformed.api != "jax.jit":
            wanted = constant(transformed.options["argnums"]) if "argnums" in transformed.options else 0
        for position, value in enumerate(event.args):
            if (
                wanted is not None
                and position != wanted
                and not (isinstance(wanted, tuple) and position in wanted)
            ):
                continue
            held = function_leaf(value)
            if held:
                filtered = f"eqx.filter_{transformed.api.removeprefix('jax.')}"
                report(
                    event.node,
                    f"`{transformed.api}` gets a model that holds a function, which raises TypeError; use `{filtered}`",
                    reason=f"{held} is a leaf of the model, and JAX accepts arrays only",
                )
                return


def _is_view(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("values", "items", "keys")
        and not node.args
        and not node.keywords
    )


def _holds_object(value: Value, depth: int = 3) -> bool:
    """Whether a carry is an object of the project, or holds one."""
    if isinstance(value, Instance) or depth == 0:
        return depth > 0
    return isinstance(value, (ListValue, TupleValue, DictValue)) and any(
        _holds_object(part, depth - 1) for part in value.elements()
    )


def _kind(value: Value) -> str:
    return _KINDS.get(value.kind, "") if isinstance(value, ListValue) else ""
