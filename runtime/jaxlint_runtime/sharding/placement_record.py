"""The result of a search for placements, as plain data for the reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jaxlint_runtime.model import CapturedFunction
from jaxlint_runtime.sharding import placement_code, placement_words
from jaxlint_runtime.sharding.shard_function import Outcome, Row


def _placement(row: Row, outcome: Outcome) -> dict[str, Any]:
    """One row of the table, as plain data."""
    figures, strategy = row.figures, row.strategy
    return {
        "name": row.name,
        "title": placement_words.title(strategy, outcome.classes, outcome.mesh) if strategy else None,
        "chosen": row is outcome.chosen,
        "flops": figures.flops if figures else None,
        "sent_bytes": figures.sent if figures else None,
        "sent_by_kind": figures.by_kind if figures else {},
        "sent_by_axes": figures.by_axes if figures else {},
        "peak_bytes": figures.memory if figures else None,
        "fits": figures.fits if figures else None,
        "rematerialised": list(figures.rematerialised) if figures else [],
        "score": row.score,
        "reason": row.reason or None,
    }


def record(function: CapturedFunction, outcome: Outcome) -> dict[str, Any]:
    """The whole outcome as plain data, for the reports."""
    chosen = outcome.chosen
    assert chosen.strategy is not None
    found = outcome.classes
    return {
        "function": function.qualname,
        "path": function.path,
        "line": function.line,
        "mesh": {"names": list(outcome.mesh.names), "sizes": list(outcome.mesh.sizes)},
        "devices": "simulated CPU devices" if ":" not in outcome.target else outcome.target,
        "weighed_as": outcome.scale.chip,
        "one_device_bytes": outcome.one_device,
        "tried": outcome.tried,
        "bounded": outcome.over,
        "title": placement_words.title(chosen.strategy, found, outcome.mesh),
        "explanation": list(placement_words.sentences(chosen.strategy, found, outcome.mesh, chosen.figures)),
        "placements": [_placement(row, outcome) for row in outcome.rows],
        "classes": [
            {
                "name": entry.name,
                "shape": list(entry.shape),
                "axes": [found.roles.get(group, "") for group in entry.groups],
                "arrays": len(entry.members),
                "followers": len(entry.followers),
                "spec": placement_code.written(chosen.strategy.spec(found, number)),
                "state": placement_code.written(chosen.strategy.followers(found, number)),
                "used": placement_code.written(chosen.strategy.used[number])
                if number in chosen.strategy.used
                else None,
            }
            for number, entry in enumerate(found.parameters)
        ],
        "activations": [
            {
                "path": one.place[0] if one.place else None,
                "line": one.place[1] if one.place else None,
                "shape": list(one.shape),
                "axes": [found.roles.get(group, "") for group in one.groups],
                "spec": placement_code.written(chosen.strategy.held[number]),
            }
            for number, one in enumerate(found.activations)
            if number in chosen.strategy.held
        ],
        "batch": {
            "inputs": [one.path for one in found.data],
            "spec": placement_code.written((chosen.strategy.batch,)),
        },
        "values": asdict(outcome.comparison.numerics) if outcome.comparison else None,
        "values_problem": outcome.problem or (outcome.comparison.problem if outcome.comparison else None),
        "code": outcome.code,
        "annotations": outcome.annotations,
        "advice": outcome.advice,
    }
