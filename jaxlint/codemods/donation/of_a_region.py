"""The arguments that the function of a region donates."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from jaxlint.codemods.donation.dead_arguments import kept_by_callers
from jaxlint.codemods.donation.kept_arguments import other_holder
from jaxlint.codemods.purity.callbacks import maker_of, may_share
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.source.site import Site


def donated(
    after: Site,
    line: int,
    renewed: Sequence[int],
    nodes: Iterable[ast.AST],
    possible: PossibleValues,
    file: File,
) -> Sequence[int]:
    """The positions in `renewed`, the parameters that the region recomputes, that may be donated; none if a caller
    visibly keeps one, or a state may share buffers.

    `after`: the file with the function, which is jitted in a line. `nodes`: the moved code, in `file`.
    """
    if not renewed or kept_by_callers(after, line, renewed):
        return ()
    if _updates_shared_buffers(nodes, possible, file):
        return ()
    others = [one for one in possible.program.files if one.display != file.display]
    return () if other_holder(after, line, renewed, variables=True, others=others) else renewed


def _updates_shared_buffers(nodes: Iterable[ast.AST], possible: PossibleValues, file: File) -> bool:
    """Whether it runs an optimiser whose state may share buffers with the parameters, or within itself."""
    calls = [file.same(part) for one in nodes for part in ast.walk(one) if isinstance(part, ast.Call)]
    makers = [maker_of(callee) for call in calls for callee in possible.of(call.func, file)]
    return any(may_share(made) for made in makers if made is not None)
