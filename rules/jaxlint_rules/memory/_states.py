"""States that a program keeps: whether they are large."""

from __future__ import annotations

import re

from jaxlint.api.values import Array, DictValue, Instance, Unknown, Value, least_size, parts_of, shape_of

_LARGE = re.compile(
    r"cache|^kv|buffer|params|weights|memory$|replay|opt\w*_state"
)  # names of states that are seldom small
_LEAST = 2**14  # elements of a state whose second copy matters
_LEAST_FIELD = 2**10  # the same of a matrix or a grid, which a program shows on a small scale


def holds_much(value: Value, depth: int = 0) -> bool:
    """Whether a value visibly holds many elements."""
    if least_size(value) >= (_LEAST_FIELD if len(shape_of(value) or ()) > 1 else _LEAST):
        return True
    return depth < 3 and any(holds_much(part, depth + 1) for part in parts_of(value))


def is_large(value: Value, depth: int = 0) -> bool:
    """Whether a value visibly holds many elements, or the name of a part says that it is a cache or a buffer."""
    if depth == 0 and holds_much(value):
        return True
    named = (
        value.fields if isinstance(value, Instance) else value.items if isinstance(value, DictValue) else {}
    )
    if any(isinstance(name, str) and _LARGE.search(name.lower()) for name in named):
        return True
    return depth < 3 and any(is_large(part, depth + 1) for part in parts_of(value))


def is_record(value: Value) -> bool:
    """Whether a value is an object of the project with arrays in its fields, which say what it holds: the knots of a plan."""
    return (
        isinstance(value, Instance)
        and value.cls.kind not in ("linen", "equinox", "nnx", "haiku")
        and bool(value.fields)
        and not any(
            isinstance(part, Unknown) or (isinstance(part, Array) and part.tree)
            for part in value.fields.values()
        )
    )
