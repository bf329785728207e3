"""What codemods that pad the arguments of calls share: a call at a place that a run has seen, and what is written there."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused, Site, place_of


def call_at(site: Site, place: Sequence[int]) -> ast.Call:
    """The call at a place (lines and columns of `ast`). Raises Refused."""
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Call) and place_of(node) == list(place):
            return node
    raise Refused(f"there is no call at line {place[0]}")


def written_argument(call: ast.Call, argument: int | str) -> ast.expr | None:
    """The argument at a position or of a keyword, if the call writes it out."""
    if isinstance(argument, int) and argument < len(call.args):
        if not any(isinstance(one, ast.Starred) for one in call.args[: argument + 1]):
            return call.args[argument]
    return next((keyword.value for keyword in call.keywords if keyword.arg == argument), None)


def names_in_file(site: Site, layout: Layout) -> set[str]:
    """The names that new functions and variables must not have."""
    taken = set(layout.identifiers(site.names.module))
    for node in ast.walk(site.tree):
        if isinstance(node, ast.Name):
            taken.add(node.id)
        elif isinstance(node, ast.arg):
            taken.add(node.arg)
    return taken
