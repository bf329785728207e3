"""Parameters of array functions that must be static in JAX, as `tools/static_options.py` lists them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

_DATA = Path(__file__).parent / "data" / "static_options.txt"
_RESHAPING = frozenset(
    {"reshape", "transpose"}
)  # methods that take their shape in one argument or in several


@functools.cache
def _options() -> dict[str, dict[str, int | None]]:
    """By function: the static parameters, and their positions."""
    found: dict[str, dict[str, int | None]] = {}
    for line in _DATA.read_text("utf-8").splitlines():
        name, *options = line.split()
        pairs = (one.split(":") for one in options)
        found[name] = {option: None if place == "-" else int(place) for place, option in pairs}
    return found


def static_arguments(call: ast.Call, name: str) -> Iterator[ast.expr]:
    """The arguments of a call that must be static. `name`: of the function, or of the function that a method stands for."""
    method = bool(isinstance(call.func, ast.Attribute) and not name)
    short = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    options = _options().get(f"jax.numpy.{short}" if method else name, {})
    places = {place - method for place in options.values() if place is not None}
    for number, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            return
        if number in places or (method and short in _RESHAPING):
            yield argument
    yield from (keyword.value for keyword in call.keywords if keyword.arg in options)
