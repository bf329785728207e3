"""Arrays that each iteration of a loop makes longer, wherever that happens: in a method, a helper, or a dict that it is handed."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Loop
from jaxlint.api.values import Array, Value, parts_of, shape_of, short_source
from jaxlint_rules._loops import GROWING


class Growth:
    """The arguments of the calls in a loop's first iteration, to compare with the next iteration."""

    def __init__(self) -> None:
        self._first: dict[tuple[ast.AST, ast.AST], list[Value]] = {}  # by loop and call

    def see(self, event: CallEvent, node: ast.Call, loop: Loop) -> str:
        """Why an argument is longer than in the first iteration; "" if none is known to be."""
        given = [*event.args, *event.kwargs.values()]
        written = [*node.args, *(word.value for word in node.keywords)]
        if not loop.is_later_iteration():
            self._first[loop.node, node] = given
            return ""
        before = self._first.get((loop.node, node), [])
        if not len(before) == len(given) == len(written):
            return ""
        for earlier, now, argument in zip(before, given, written, strict=True):
            if isinstance(earlier, Array) and isinstance(now, Array) and _is_longer(earlier, now):
                return f"`{short_source(argument)}` grows"
        return ""


def _is_longer(earlier: Array, now: Array) -> bool:
    """Whether `now` is all of `earlier`, joined with more."""
    made = now.made
    if made is None or made.name not in GROWING or not made.args:
        return False
    if now.form is not None and now.form.how == "either":
        return False  # perhaps not in each iteration
    joined = made.args[:2] if isinstance(made.args[0], Array) else parts_of(made.args[0])
    if not any(isinstance(part, Array) and _is_same(part, earlier) for part in joined):
        return False
    sizes = shape_of(earlier)
    return sizes is None or sizes != shape_of(now)


def _is_same(one: Array, other: Array) -> bool:
    if one is other:
        return True
    return one.made is not None and one.made is other.made and one.origin is other.origin
