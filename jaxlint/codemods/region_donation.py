"""Which arguments of the function of a region give their buffers to its results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from jaxlint.codemods.dead_arguments import kept_by_callers
from jaxlint.codemods.kept_arguments import kept_elsewhere
from jaxlint.codemods.purity.callbacks import maker_of, may_share
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.site import Site


def donated(
    after: Site,
    line: int,
    renewed: Sequence[int],
    nodes: Iterable[ast.AST],
    possible: PossibleValues,
    file: File,
) -> Sequence[int]:
    """The positions of what the region makes anew, `renewed`; none where a caller is seen to keep one, or a state may share buffers.

    `after`: the file with the function, which is jitted in a line. `nodes`: what was moved into it, in `file`.
    """
    if not renewed or kept_by_callers(after, line, renewed):
        return ()
    if _updates_shared_buffers(nodes, possible, file):
        return ()
    return () if kept_elsewhere(after, line, renewed, variables=True) else renewed


def _updates_shared_buffers(nodes: Iterable[ast.AST], possible: PossibleValues, file: File) -> bool:
    """Whether an optimizer runs in it whose state may hold the buffers of the parameters, or one buffer twice."""
    calls = [file.same(part) for one in nodes for part in ast.walk(one) if isinstance(part, ast.Call)]
    makers = [maker_of(callee) for call in calls for callee in possible.of(call.func, file)]
    return any(may_share(made) for made in makers if made is not None)
