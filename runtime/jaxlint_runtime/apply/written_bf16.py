"""Writes a proven bfloat16 policy to the source, by the dtype arguments of the layers behind its products."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jaxlint.codemods import Refused, Workspace
from jaxlint.codemods.memory import compute_dtype
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source.file import SourceFile
from jaxlint_runtime.protocol.report_forms import CostJson, ResultJson

CODEMODS = frozenset({"compute-dtype"})
_REPRODUCED = 0.5  # share of the gain that must be shown again


def bf16_fix(result: ResultJson, sources: Mapping[str, SourceFile]) -> FixRequest | str:
    """The fix that makes layers compute in bfloat16, or why it stays advice.

    The last layer of the forward pass is unchanged, so that the loss is computed in float32.
    """
    paths = {os.path.realpath(path): path for path in sources}
    workspace = Workspace(sources)
    layers: list[tuple[str, Any]] = []
    without = 0
    for chain in result["parameters"]["calls"]:  # for each product of the forward pass, in order
        found: list[tuple[str, Any]] = []
        for place in chain:  # from the inside to the outside
            file, _, line = place.rpartition(":")
            path = paths.get(os.path.realpath(file))
            if path is None:
                continue
            try:
                found = [(path, span) for span in compute_dtype.find_layers(workspace.site(path), int(line))]
            except Refused as refusal:
                return f"advice only: {refusal}"
            if found:
                break
        without += not found
        layers += [one for one in found if one not in layers]
    if len(layers) == 1:
        return (
            "advice only: the last layer stays in float32, and there is no other; cast the operands by hand"
        )
    if not layers:
        return "advice only: only products of flax layers, which have a `dtype`, are written; cast the operands by hand"
    steps = tuple(Step("compute-dtype", path, span, {}) for path, span in layers[:-1])
    products = "1 product outside layers is" if without == 1 else f"{without} products outside layers are"
    left = f"; {products} not changed" if without else ""
    many = "1 layer" if len(steps) == 1 else f"{len(steps)} layers"
    return FixRequest(Safety.UNSAFE, f"Compute {many} in bfloat16, the last one in float32{left}", steps)


def still_gains(result: ResultJson, again: CostJson | None) -> tuple[bool, str]:
    """Whether the edited function shows half of the promised gain in memory or time, by its figures on the same
    target."""
    if again is None or result["before"] is None or result["after"] is None:
        return False, "not changed: the edited program did not compile the function"
    for name, unit, scale in (("peak_bytes", "MiB", 2**20), ("time_ms", "ms", 1)):
        before, promised, now = (_figure(cost, name) for cost in (result["before"], result["after"], again))
        if before is None or promised is None or now is None or promised >= before:
            continue
        if before - now >= _REPRODUCED * (before - promised):
            what = "memory" if name == "peak_bytes" else "time"
            return (
                True,
                f"confirmed in the edited program: {what} {before / scale:.4g} to {now / scale:.4g} {unit}",
            )
    return False, "not changed: the edited program shows less than half of the gain"


def _figure(cost: CostJson, name: str) -> float | None:
    value: Any = cost.get(name)
    return value["median"] if isinstance(value, Mapping) else value
