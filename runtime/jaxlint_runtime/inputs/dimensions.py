"""Sizes of named dimensions, as given on the command line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping


class NoExample(Exception):
    """There are no arguments for a function; the message gives the reason and what to do."""


class Dimensions:
    """Named sizes. Records which were used, so that an unused name can be reported."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = dict(sizes)
        self.used: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._sizes

    def size(self, name: str, of: str) -> int:
        """The size of a dimension. Raises NoExample if it was not given; `of` names its owner."""
        self.used.add(name)
        if name not in self._sizes:
            raise NoExample(f"the dimension {name!r} of {of} has no size; set it with --dim {name}=N")
        return self._sizes[name]

    def unused(self) -> list[str]:
        """Names that were given and never used."""
        return [name for name in self._sizes if name not in self.used]

    def shape(self, text: str, of: str) -> tuple[int, ...]:
        """The shape in a jaxtyping string, "batch 2*width 3". Raises NoExample if it is unknown.

        `*name` is one axis if the dimension was given, otherwise none; `...` is none.
        """
        found: list[int] = []
        for word in text.split():
            label, _, rest = word.partition("=")
            bare = (rest if rest and label.isidentifier() else word).lstrip("#?")
            if bare == "...":
                continue
            if bare.startswith("*"):
                name = bare.lstrip("*#?")
                if name in self:
                    found.append(self.size(name, of))
                continue
            if bare == "_" or not bare:
                raise NoExample(
                    f"an axis of {of} has no name ({text!r}); write arguments into a file for --inputs"
                )
            found.append(self._value(bare, of))
        return tuple(found)

    def _value(self, text: str, of: str) -> int:
        """An axis: a number, a name, or sums and products of them."""
        try:
            tree = ast.parse(text, mode="eval").body
            value = self._evaluate(tree, of)
        except (SyntaxError, ValueError, ZeroDivisionError):
            raise NoExample(
                f"the axis {text!r} of {of} is not understood; write arguments into a file for --inputs"
            ) from None
        if value < 0:
            raise NoExample(f"the axis {text!r} of {of} would be {value} long")
        return value

    def _evaluate(self, node: ast.expr, of: str) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return self.size(node.id, of)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](self._evaluate(node.left, of), self._evaluate(node.right, of))
        raise ValueError(ast.dump(node))


_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}
