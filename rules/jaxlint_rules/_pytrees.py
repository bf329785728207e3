"""Values that are neither pytrees nor leaves of one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from jaxlint.api.tables import OPTIMIZERS, returns_array
from jaxlint.api.values import (
    ClassValue,
    DictValue,
    External,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Static,
    Transformed,
    TupleValue,
    Value,
)

_PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_OPTIMISERS = OPTIMIZERS | {
    "optax.MultiSteps",
    "optax.chain",
    "optax.multi_transform",
    "optax.named_chain",
    "optax.partition",
}


def untraceable(value: Value, nnx: bool = False, depth: int = 3) -> str:
    """The part of an argument that JAX cannot trace, in words; "" if nothing is certain."""
    if isinstance(value, Static):
        return _untraceable_constant(value)
    if isinstance(value, Function):
        plain = isinstance(value.node, ast.Lambda) or not value.node.decorator_list
        return f"a function (`{value.name}`)" if plain and value.wraps is None else ""
    if isinstance(value, Transformed):
        return "a function" if value.kind in _FUNCTIONS else ""
    if isinstance(value, ClassValue):
        return "a class"
    if isinstance(value, External):
        return _untraceable_name(value.name)
    if isinstance(value, ExternalObject):
        if value.name in _OPTIMISERS:
            return f"an optimizer (`{value.name}`)"
        if value.name.startswith("flax.linen.") and value.name.rpartition(".")[2][:1].isupper():
            if value.name.rpartition(".")[2] in _PYTREES_OF_LINEN:
                return ""
            return f"a module (`{value.name.replace('flax.linen', 'nn')}`)"
        return {"builtins.range": "a range", "builtins.slice": "a slice"}.get(value.name, "")
    if isinstance(value, Instance):
        return _untraceable_instance(value)
    if isinstance(value, ListValue) and value.kind == "set":
        return "a set"
    if isinstance(value, (ListValue, TupleValue, DictValue)) and depth > 0:
        if isinstance(value, (ListValue, TupleValue)) and value.items is None:
            return ""
        parts = value.items.values() if isinstance(value, DictValue) else value.items or ()
        for part in parts:
            found = untraceable(part, nnx, depth - 1)
            if found:
                return f"{found} in a {_CONTAINERS[type(value)]}"
    return ""


_PYTREES_OF_LINEN = frozenset({"FrozenDict", "LogicallyPartitioned", "Partitioned"})
_FUNCTIONS = frozenset({"jit", "vmap", "grad", "value_and_grad", "hk.transform"})
_CONTAINERS: dict[type, str] = {ListValue: "list", TupleValue: "tuple", DictValue: "dict"}


def _untraceable_constant(value: Static) -> str:
    if isinstance(value.const, (str, bytes)) or value.kind == "str":
        return f"a string ({value.const!r})" if isinstance(value.const, str) else "a string"
    return {"enum": "an enum member", "dtype": "a dtype"}.get(value.kind, "")


def _untraceable_name(name: str) -> str:
    last = name.rpartition(".")[2]
    if name.startswith(("jax.nn.", "jax.numpy.", "jax.lax.")) and returns_array(name):
        return f"a function (`{name.replace('jax.numpy', 'jnp').replace('jax.nn', 'nn')}`)"
    if name.startswith("jax.numpy.") and last.rstrip("0123456789_") in (
        "float",
        "int",
        "uint",
        "bfloat",
        "bool",
    ):
        return f"a dtype (`jnp.{last}`)"
    if name in ("builtins.int", "builtins.float", "builtins.bool"):
        return f"a type (`{last}`)"
    return ""


def _untraceable_instance(value: Instance) -> str:
    """An instance of a class that certainly is not a registered pytree."""
    cls = value.cls
    if cls.kind == "linen":
        return f"a linen module (`{cls.name}`)"
    if cls.kind not in ("plain", "dataclass") or cls.derived:
        return ""  # a value annotated as a base class may be a pytree of a subclass
    for known in cls.mro():
        if known.node.keywords or not all(_plain_base(base) for base in known.bases):
            return ""
        # The effect of a decorator other than `dataclass` on the class is unknown.
        if len(known.node.decorator_list) > (known.kind == "dataclass"):
            return ""
        if not {"tree_flatten", "__jax_array__", "__init_subclass__"}.isdisjoint(known.namespace):
            return ""
    return f"a `{cls.name}` (not a pytree)"


def _plain_base(base: Value) -> bool:
    return isinstance(base, ClassValue) or (isinstance(base, External) and base.name in _PLAIN_BASES)


def function_leaf(value: Value, depth: int = 4) -> str:
    """The name of a function that is a leaf of a model; "" if there is none."""
    if isinstance(value, ExternalObject):
        if value.name in ("equinox.nn.MLP", "equinox.nn.Lambda"):
            return f"the function of `{value.name.replace('equinox', 'eqx')}`"
        if value.name == "equinox.nn.Sequential" and value.args:
            return function_leaf(value.args[0], depth - 1)
        return ""
    if depth <= 0:
        return ""
    if isinstance(value, (ListValue, TupleValue, DictValue)):
        return next((found for part in _known(value) if (found := function_leaf(part, depth - 1))), "")
    if isinstance(value, Instance) and value.cls.kind == "equinox":
        declared = value.cls.all_fields()
        for name, part in value.fields.items():
            if name not in declared or declared[name].static:
                continue
            if _is_or_lists_function(part):
                where = f"the field `{name}` of `{value.cls.name}`"
                return where if isinstance(part, (Function, External)) else f"a function in {where}"
            found = function_leaf(part, depth - 1)
            if found:
                return found
    return ""


def _known(container: ListValue | TupleValue | DictValue) -> Iterable[Value]:
    return container.items.values() if isinstance(container, DictValue) else container.items or ()


def _is_or_lists_function(value: Value, depth: int = 3) -> bool:
    """Whether a field of a model is a function, or a container with one beside its layers."""
    if isinstance(value, (ListValue, TupleValue, DictValue)):
        return depth > 0 and any(_is_or_lists_function(part, depth - 1) for part in _known(value))
    return isinstance(value, Function) or (isinstance(value, External) and value.name.startswith("jax."))
