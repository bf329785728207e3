"""Writes a proven blockwise cross-entropy to the source: its computation from a product is mapped over parts of the
examples."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

from jaxlint.codemods import Workspace
from jaxlint.codemods.memory.loss_by_parts import find_losses
from jaxlint.codemods.memory.row_losses import Setting
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.apply.written_attention import step_at
from jaxlint_runtime.protocol.report_forms import ResultJson

CODEMODS = frozenset({"loss-by-parts"})
_WHAT = "cross-entropy of the scores of one product"


def loss_fix(result: ResultJson, sources: Mapping[str, SourceFile]) -> FixRequest | str:
    """The fix that maps the losses over parts, or why it stays advice."""
    paths = {os.path.realpath(path): path for path in sources}
    workspace = Workspace(sources)
    steps: list[Step] = []
    for call in result["parameters"]["calls"]:
        parameters = {name: call[name] for name in ("examples", "rank", "layer")}
        find = functools.partial(find_losses, setting=Setting(call["rank"], call["layer"]))
        found = step_at(call["places"], "loss-by-parts", parameters, (paths, workspace), find, _WHAT)
        if isinstance(found, str):
            return found
        steps += [found] if found not in steps else []
    return FixRequest(Safety.UNSAFE, "Compute the cross-entropy by parts", tuple(steps))
