"""The keys of dicts, which are no tracers in a traced function."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import ARRAY, Box

_OF_KEYS = frozenset({"sorted", "list", "tuple", "set", "frozenset", "reversed", "iter", "min", "max"})


def is_dict(node: ast.expr, possible: PossibleValues, file: File) -> bool:
    """Whether iteration yields the keys of a dict: a visible one, or the tree that JAX made from it, which counts as an array."""
    values = possible.of(node, file)
    dicts = [one for one in values if isinstance(one, Box) and one.kind == "dict"]
    return bool(dicts) and values <= {ARRAY, *dicts}


def gives_keys(node: ast.Call, name: str, possible: PossibleValues, file: File) -> bool:
    """Whether a call of a builtin gives keys of a dict: `sorted(params)`."""
    return (
        name in _OF_KEYS
        and len(node.args) == 1
        and not node.keywords
        and is_dict(node.args[0], possible, file)
    )


def all_keys(node: ast.expr, possible: PossibleValues, file: File) -> set[object] | None:
    """The keys of a dict that a call unpacks; None if it may have others. A tree that JAX returned has those of the dict that it was made from."""
    values = possible.of(node, file)
    dicts = [one for one in values if isinstance(one, Box) and one.kind == "dict" and not one.rest]
    whole = all(one.items is not None and len(one.keys) == len(one.items) for one in dicts)
    if not dicts or not whole or not values <= {ARRAY, *dicts}:
        return None
    return {key for one in dicts for key in one.keys}
