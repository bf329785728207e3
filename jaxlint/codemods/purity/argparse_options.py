"""The values of command-line options, from the calls of `add_argument`."""

from __future__ import annotations

import ast

from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.purity.values import NONE, NOTHING, NUMBER, TEXT, Box, Values, one, unknown

_NUMBERS = frozenset({"int", "float", "bool"})
_COUNTS = frozenset({"store_true", "store_false", "count"})


def option_of(program: Program, name: str) -> Values:
    """The possible values of an attribute of the parsed arguments."""
    found: Values = NOTHING
    for _, call in program.calls.get("add_argument", ()):
        if name in _names(call):
            found |= _given(call)
    return found or unknown(f".{name}")


def _names(call: ast.Call) -> list[str]:
    keywords = {one_.arg: one_.value for one_ in call.keywords}
    given = [keywords["dest"]] if "dest" in keywords else call.args
    return [
        one_.value.lstrip("-").replace("-", "_")
        for one_ in given
        if isinstance(one_, ast.Constant) and isinstance(one_.value, str)
    ]


def _given(call: ast.Call) -> Values:
    keywords = {one_.arg: one_.value for one_ in call.keywords}
    default = keywords.get("default")
    action = getattr(keywords.get("action"), "value", None)
    nargs = getattr(keywords.get("nargs"), "value", None)
    if "nargs" in keywords or action in ("append", "extend"):
        if None in keywords or nargs == "?" or not isinstance(default, ast.Constant | ast.UnaryOp | None):
            return unknown()
        return one(Box("list", None, unknown())) | one(NONE)
    if None in keywords or not isinstance(default, ast.Constant | ast.UnaryOp | None):
        return unknown()
    if action in _COUNTS:
        return one(NUMBER)
    kind = keywords.get("type")
    if action is not None or not isinstance(kind, ast.Name | None):
        return unknown()
    if kind is not None and kind.id not in {*_NUMBERS, "str"}:
        return unknown()
    values = one(NUMBER if kind is not None and kind.id in _NUMBERS else TEXT)
    value = getattr(default, "value", None)
    if isinstance(default, ast.UnaryOp) or isinstance(value, int | float):
        return values | one(NUMBER)
    return values if isinstance(value, str) or "required" in keywords else values | one(NONE)
