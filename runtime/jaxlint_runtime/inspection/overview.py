"""The description of one version for the report, as plain data: memory over program order, work and traffic by line,
facts in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from jaxlint_runtime.inspection import cost
from jaxlint_runtime.inspection.buffer_assignment import assigned
from jaxlint_runtime.inspection.explanations import QUIET_CALLS, collective, facts
from jaxlint_runtime.inspection.hlo import Module, Place, parse
from jaxlint_runtime.inspection.jaxpr_facts import traced
from jaxlint_runtime.inspection.memory_timeline import Alive, Timeline
from jaxlint_runtime.inspection.time_estimates import estimated_ms
from jaxlint_runtime.inspection.traffic import Traffic, targets, traffic
from jaxlint_runtime.lowering.function_versions import Staged, StagingError
from jaxlint_runtime.model import Cost, Interval

# Characters of HLO that are read: parsing more would take longer than it is worth.
_MOST_TEXT = 48 * 2**20
_MOST_FACTS = 60
_MOST_LINES = 60


def overview(staged: Staged) -> dict[str, Any]:
    """The description of one version. If its compiler refuses it, `hlo` is None. Raises StagingError."""
    known = traced(staged)
    donated = staged.bound.donated(staged.version.options)
    module = _module(staged)
    moved = traffic(module) if module is not None else None
    return {
        "cost": _cost(staged),
        "memory": {**_memory(known.memory[donated]), "assigned": _assigned(staged, module)},
        "flops": _by_phase(known.lines),
        "flops_exact": known.work.exact,
        "matmul_flops": known.work.matmul_flops,
        "matmul_dtype": _matmul_dtype(known.products),
        "bytes": moved.by_phase() if moved is not None else None,
        "bytes_exact": moved.exact if moved is not None else None,
        "hlo": _compiled(module, moved) if module is not None and moved is not None else None,
        "lines": _lines(known.lines, moved),
    }


def _cost(staged: Staged) -> Cost | None:
    try:
        found = cost(staged)
        time = estimated_ms(staged) if found.fits is not False else None
    except StagingError:
        return None
    if time is not None:
        found.time_ms, found.time_kind = Interval(time[0], time[0], time[0]), time[1]
    return found


def _module(staged: Staged) -> Module | None:
    try:
        text = staged.text("hlo")
    except StagingError:
        return None
    return parse(text) if 0 < len(text) <= _MOST_TEXT else None


def _memory(found: Timeline) -> dict[str, Any]:
    return {
        "kind": "estimate",
        "bytes": found.nbytes,
        "phases": found.phases,
        "equations": found.equations,
        "peak_bytes": found.peak,
        "peak_index": found.peak_index,
        "peak_operation": found.peak_operation,
        **_place(found.peak_place, "peak_"),
        "alive": [_alive(value) for value in found.alive],
    }


def _assigned(staged: Staged, module: Module | None) -> dict[str, Any] | None:
    """The peak from the compiler's own buffer assignment, if it reports it."""
    found = assigned(staged.compiled, module) if module is not None else None
    if found is None:
        return None
    return {
        "kind": "compiler",
        "peak_bytes": found.peak,
        "peak_operation": found.operation,
        **_place(found.place, "peak_"),
        "alive": [_alive(value) for value in found.alive],
    }


def _alive(value: Alive) -> dict[str, Any]:
    return {
        "shape": value.shape,
        "bytes": value.nbytes,
        "count": value.count,
        "operation": value.operation,
        **_place(value.place),
    }


def _place(place: Place | None, prefix: str = "") -> dict[str, Any]:
    path, line, function = place or (None, None, None)
    return {f"{prefix}path": path, f"{prefix}line": line, f"{prefix}function": function}


def _by_phase(work: Mapping[tuple[Place | None, str], float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (_, phase), flops in work.items():
        found[phase] = found.get(phase, 0.0) + flops
    return found


def _matmul_dtype(products: Iterable[tuple[str, float]]) -> str | None:
    """The dtype of most of the products' work; None if there are none."""
    flops: Counter[str] = Counter()
    for dtype, amount in products:
        flops[dtype] += amount  # type: ignore[assignment]
    return flops.most_common(1)[0][0] if flops else None


def _compiled(module: Module, moved: Traffic) -> dict[str, Any]:
    said = facts(module, moved)
    kinds: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    sent: dict[str, dict[str, int]] = {}
    for kernel in moved.kernels:
        instruction = kernel.instruction
        kinds["fusion" if instruction.opcode == "fusion" else "other"] += 1
        for target in targets(module, instruction):
            if not QUIET_CALLS.match(target):
                calls[target] += kernel.times
        if (found := collective(instruction)) is not None:
            entry = sent.setdefault(found[0], {"count": 0, "bytes": 0})
            entry["count"] += kernel.times
            entry["bytes"] += found[1] * kernel.times
    return {
        "kernels": len(moved.kernels),
        "fusions": kinds["fusion"],
        "launches": sum(kernel.times for kernel in moved.kernels),
        "custom_calls": dict(calls),
        "collectives": sent,
        "facts": [
            {
                "kind": fact.kind,
                "text": fact.text,
                "path": fact.path,
                "line": fact.line,
                "function": fact.function,
                "bytes": fact.nbytes,
                "count": fact.count,
            }
            for fact in said[:_MOST_FACTS]
        ],
        "facts_left_out": max(0, len(said) - _MOST_FACTS),
    }


def _lines(work: Mapping[tuple[Place | None, str], float], moved: Traffic | None) -> list[dict[str, Any]]:
    """FLOPs and bytes by line: the lines with most of either first."""
    flops: dict[Place, float] = {}
    nbytes: dict[Place, int] = {}
    for (place, _), amount in work.items():
        if place is not None:
            flops[place] = flops.get(place, 0.0) + amount
    for kernel in moved.kernels if moved is not None else ():
        if kernel.place is not None:
            nbytes[kernel.place] = nbytes.get(kernel.place, 0) + kernel.nbytes
    most_flops, most_bytes = max(flops.values(), default=0.0) or 1.0, max(nbytes.values(), default=0) or 1
    # Compilers and JAX may name the function of a line differently: the place is file and line.
    places: dict[tuple[str, int], str] = {}
    for path, line, function in (*flops, *nbytes):
        places.setdefault((path, line), function)

    def sums(table: Any, path: str, line: int) -> float:
        return float(sum(amount for (p, n, _), amount in table.items() if (p, n) == (path, line)))

    rows = [
        {
            "path": path,
            "line": line,
            "function": function,
            "flops": sums(flops, path, line),
            "bytes": sums(nbytes, path, line) if moved is not None else None,
        }
        for (path, line), function in places.items()
    ]
    rows.sort(key=lambda row: -max(row["flops"] / most_flops, (row["bytes"] or 0.0) / most_bytes))  # type: ignore[operator]
    return rows[:_MOST_LINES]
