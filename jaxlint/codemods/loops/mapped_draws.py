"""Random numbers of rows that are computed together: under `vmap`, `rbg` draws other numbers than key by key."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jaxlint.codemods.purity.concretization import Traced
from jaxlint.codemods.purity.jax_settings import generators_chosen
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import program_and_file


def may_be_mapped(draft: Draft, nodes: Sequence[ast.AST]) -> None:
    """Raises Refused if `nodes` may draw with a generator that gives other numbers under `vmap`, on any path."""
    if not draft.strict:
        return
    program, file = program_and_file(draft)
    possible = PossibleValues(program)
    chosen = next(generators_chosen(possible), None)
    if chosen is None:
        return
    own = [file.same(one) for one in nodes]  # type: ignore[type-var]
    traced = Traced(possible)
    traced.start_nodes(own, (), file)
    inside = [*((one, file) for one in own), *traced.functions.items()]
    for part, home in ((part, home) for node, home in inside for part in ast.walk(node)):
        if isinstance(part, ast.Call) and (
            possible.name_of(part.func, home).startswith("jax.random.")
            or any(one.arg == "rngs" for one in part.keywords)
        ):
            raise Refused(f"it may draw with `rbg` ({chosen}), which gives other numbers under `vmap`")
