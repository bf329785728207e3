"""Types of Python, NumPy and JAX: which of them arrays are instances of, and which attributes those arrays have."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.jaxapi.array_members import (
    ARRAY_ATTRIBUTES,
    ARRAY_METHODS,
    CONCRETE_ATTRIBUTES,
    OTHER_ATTRIBUTES,
    SPECIAL_METHODS,
    STATIC_ATTRIBUTES,
)
from jaxlint.jaxapi.names import JAX_FAMILY
from jaxlint.staging.values.arrays import Array
from jaxlint.staging.values.objects import Choice, ClassValue, External, TupleValue
from jaxlint.staging.values.plain import Static, Value

ARRAY_MODULES = frozenset({"numpy", "jax.numpy"})  # both have the same functions
# No value that Python itself makes is an instance of these.
ARRAY_TYPES = frozenset({"jax.Array", "jax.numpy.ndarray", "jax.core.Tracer", "numpy.ndarray"})
_PLAIN_MODULES = ("builtins", "numpy", "numbers", "typing", "collections")


def array_is_instance(value: Array, options: Sequence[Value], abilities: frozenset[str]) -> Static:
    """The result of `isinstance(value, options)`. `abilities`: abstract types, such as `Sized`, that arrays satisfy
    by what they can do."""
    names = [option.name if isinstance(option, External) else "" for option in options]
    if value.staged and any(name.endswith("Tracer") for name in names):
        return Static(True)  # the option is not a container, and the caller knows that both kinds exist
    if not value.certain:
        return Static(kind="bool")
    if value.tree:
        # A container, or tracers: a leaf of a traced pytree is never a NumPy array, a Python number or text.
        never = (
            "builtins.int",
            "builtins.float",
            "builtins.bool",
            "builtins.str",
            "builtins.bytes",
            "numpy.",
        )
        return (
            Static(False) if value.staged and all(n.startswith(never) for n in names) else Static(kind="bool")
        )
    if any(name in ("jax.Array", "jax.numpy.ndarray") for name in names):
        return Static(True)
    if any(name.endswith("Tracer") for name in names):
        return Static(kind="bool")
    if not abilities.isdisjoint(names):
        return Static(True)
    plain = ("builtins.", "numpy.", "numbers.", "typing.", "collections.")
    if all(
        name.startswith(plain) or isinstance(o, ClassValue) for name, o in zip(names, options, strict=True)
    ):
        return Static(False)
    return Static(kind="bool")


def array_has(value: Array, attr: object) -> bool | None:
    """`hasattr` of an array or a tracer, where it is certain."""
    if value.staged and attr in CONCRETE_ATTRIBUTES:
        return False
    if not isinstance(attr, str) or value.tree:
        return None
    if any(attr in known for known in (STATIC_ATTRIBUTES, ARRAY_METHODS, ARRAY_ATTRIBUTES, SPECIAL_METHODS)):
        return True
    return None if attr.startswith("_") or attr in OTHER_ATTRIBUTES else False


def is_array_type(kind: Value) -> bool:
    return isinstance(kind, External) and kind.name.partition(".")[0] in JAX_FAMILY


def is_sequence_type(kind: Value) -> bool:
    return isinstance(kind, External) and kind.name in ("builtins.list", "builtins.tuple")


def is_plain_type(kind: Value) -> bool:
    """Whether a type belongs to Python or NumPy."""
    return isinstance(kind, External) and kind.name.startswith(("builtins.", "numpy.", "numbers."))


def is_container_type(kind: Value) -> bool:
    return isinstance(kind, External) and kind.name.partition(".")[2] in ("list", "tuple", "dict")


def is_foreign_type(kind: Value) -> bool:
    """Whether a type belongs to an unknown library, whose instances are not tracers."""
    return isinstance(kind, External) and kind.name.partition(".")[0] not in (*JAX_FAMILY, *_PLAIN_MODULES)


def members_of_type(kind: Value) -> list[Value]:
    """The types that the second argument of `isinstance` names, or may name."""
    if not isinstance(kind, (Choice, TupleValue)):
        return [kind]
    parts = kind.options if isinstance(kind, Choice) else kind.elements()
    return [member for part in parts for member in members_of_type(part)]
