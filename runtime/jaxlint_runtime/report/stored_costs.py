"""The stored costs of a program, and the figures that became worse since: the gate of `--save` and
`--compare`.

Compiler figures and counts are compared closely. Times of a busy machine are not: a call is slower only if the fast
quarter of the calls now takes longer than the slow quarter did.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jaxlint_runtime.report.document import Document
from jaxlint_runtime.wording.paths import display_path

VERSION = 1
_MORE_BYTES = (1.02, 64 * 2**10)  # of memory: the allowed increase as a factor and in bytes
_MORE_WORK = 1.01  # the allowed factor of floating-point operations
_SLOWER = 1.1  # the allowed factor of the slow quarter of the calls
_SYNCS = 0.05  # the allowed number of additional host syncs in a step


class BadBaseline(Exception):
    """An unusable stored baseline; the message is one line and names the file."""


def as_baseline(document: Document) -> dict[str, Any]:
    """The figures of a run, by target and function."""
    figures: dict[str, dict[str, Any]] = {}
    for function in document.functions:
        name = f"{display_path(function['path'])}::{function['function']}"
        figures[name] = {
            "compiles": len(function["compiles"]),
            "calls": function["calls"],
            "captured_call": function.get("captured_call"),
            "call_ms": [function.get("call_ms_low"), function["call_ms"], function.get("call_ms_high")],
        }
    costs: dict[str, dict[str, dict[str, Any]]] = {}
    for target, result in document.results:
        if result["candidate"] == "original" and result["after"]:
            name = f"{display_path(result['path'])}::{result['function']}"
            costs.setdefault(target, {})[name] = {
                key: result["after"][key] for key in ("peak_bytes", "flops")
            }
    return {
        "schema_version": VERSION,
        "program": document.program["target"],
        "device": document.device,
        "versions": dict(document.versions),
        "functions": figures,
        "costs": costs,
        "syncs_per_step": sum(sync["per_step"] or 0.0 for sync in document.syncs),
    }


def read_baseline(path: Path) -> dict[str, Any]:
    """The baseline in a file. Raises BadBaseline."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadBaseline(f"{path}: cannot be read ({error.strerror}); write it with --save") from None
    except ValueError:
        raise BadBaseline(f"{path}: is not a baseline; write one with --save") from None
    if not isinstance(stored, dict) or stored.get("schema_version") != VERSION:
        raise BadBaseline(f"{path}: was written by another version of jaxlint; write it again with --save")
    return stored


def captured_calls(stored: Mapping[str, Any]) -> tuple[tuple[str, str, int], ...]:
    """The calls whose inputs the costs of a baseline are for: path, function and number. Other calls may have other
    shapes, so a comparison has to capture the same ones."""
    named = (
        (*name.rpartition("::")[::2], one.get("captured_call")) for name, one in stored["functions"].items()
    )
    return tuple((os.path.abspath(path), function, number) for path, function, number in named if number)


def compare(document: Document, stored: Mapping[str, Any], name: str) -> None:
    """Adds the figures that are worse than in a baseline, the file `name`, to the document."""
    now = as_baseline(document)
    document.baseline = name
    document.in_baseline = len(stored["functions"].keys() & now["functions"].keys())
    document.regressions = list(regressions(stored, now))


def regressions(stored: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """The figures that became worse, one line each. Functions in only one of the runs are left out."""
    same_device = stored["device"] == now["device"]
    for name, before in stored["functions"].items():
        after = now["functions"].get(name)
        if after is None:
            continue
        if _compiles_more(before, after):
            yield f"{name}: {before['compiles']} to {after['compiles']} compiles"
        if same_device and _slower(before["call_ms"], after["call_ms"]):
            yield f"{name}: {before['call_ms'][1]:.3g} to {after['call_ms'][1]:.3g} ms a call"
    for target, functions in stored["costs"].items():
        for name, before in functions.items():
            after = now["costs"].get(target, {}).get(name)
            if after is None:
                continue
            old, new = before["peak_bytes"] or 0, after["peak_bytes"] or 0
            if new > _MORE_BYTES[0] * old and new > old + _MORE_BYTES[1]:
                yield f"{name}: {old / 2**20:.2f} to {new / 2**20:.2f} MiB on {target}"
            if (after["flops"] or 0.0) > _MORE_WORK * (before["flops"] or 0.0):
                yield f"{name}: {before['flops']:.4g} to {after['flops']:.4g} FLOPs on {target}"
    if now["syncs_per_step"] > stored["syncs_per_step"] + _SYNCS:
        yield f"{now['syncs_per_step']:.2g} host syncs a step instead of {stored['syncs_per_step']:.2g}"


def _compiles_more(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether there are more compiles, and more of them a call: two runs of one program may stop after different calls."""
    if after["compiles"] <= before["compiles"]:
        return False
    known = "calls" in before and "calls" in after
    return not known or after["compiles"] * before["calls"] > before["compiles"] * after["calls"]


def _slower(before: list[float | None], after: list[float | None]) -> bool:
    low, high = after[0], before[2]
    return low is not None and high is not None and low > _SLOWER * high
