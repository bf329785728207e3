"""What an earlier run proved of a function, told of the function where it lies now."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.model import Cost, Result, Status
from jaxlint_runtime.proof_cache.proof_entries import ProofCache
from jaxlint_runtime.protocol.jobs import Trying
from jaxlint_runtime.protocol.worker_events import Event, Inspected, Left, Ready
from jaxlint_runtime.request import Request
from jaxlint_runtime.run import Run
from jaxlint_runtime.workers.stored_proofs import StoredProofs, stored_proofs

LEFT = Left(
    "step",
    "/here/train.py",
    10,
    "cpu",
    "folder",
    {},
    content="digest",
    places=[("/here/train.py", 11), ("/here/train.py", 14)],
)
PROVEN = Result(
    "step", "/here/train.py", 10, None, "donation", Status.VERIFIED, "run", "half the memory", after=Cost()
)


@pytest.fixture
def heard() -> list[Event]:
    return []


def proofs(folder: Path, left: Left, heard: list[Event]) -> StoredProofs:
    return StoredProofs(ProofCache(folder / "proofs").entry("function", left.content), left, heard.append)


def inspected(line: int) -> Inspected:
    overview = {"lines": [{"path": "/here/train.py", "line": line, "flops": 2.0}]}
    return Inspected("step", "/here/train.py", 10, "cpu", "donation", overview)


def test_a_proof_is_told_again_with_its_date(tmp_path: Path, heard: list[Event]) -> None:
    proofs(tmp_path, LEFT, heard).keep_proven(("donation",), (), PROVEN, [inspected(14)])
    found = proofs(tmp_path, LEFT, heard).proven(("donation",), ())
    assert found is not None
    assert found.earlier
    assert dataclasses.replace(found, earlier="") == PROVEN
    assert heard == [inspected(14)]
    assert proofs(tmp_path, LEFT, heard).proven(("donation",), ("other",)) is None
    assert proofs(tmp_path, LEFT, heard).ready() is None


def test_lines_that_moved_move_in_what_was_said(tmp_path: Path, heard: list[Event]) -> None:
    proofs(tmp_path, LEFT, heard).keep_proven(("donation",), (), PROVEN, [inspected(14)])
    moved = dataclasses.replace(
        LEFT, function="again", line=20, places=[("/here/train.py", 21), ("/here/train.py", 24)]
    )
    found = proofs(tmp_path, moved, heard).proven(("donation",), ())
    assert found is not None
    assert (found.function, found.line) == ("again", 20)
    (event,) = heard
    assert isinstance(event, Inspected)
    assert (event.function, event.line, event.overview["lines"][0]["line"]) == ("again", 20, 24)


def test_places_that_do_not_correspond_are_proven_again(tmp_path: Path, heard: list[Event]) -> None:
    proofs(tmp_path, LEFT, heard).keep_proven(("donation",), (), PROVEN, [])
    fewer = dataclasses.replace(LEFT, places=LEFT.places[:1])
    assert proofs(tmp_path, fewer, heard).proven(("donation",), ()) is None


@pytest.mark.parametrize("status", list(Status))
def test_a_failure_is_not_kept(tmp_path: Path, heard: list[Event], status: Status) -> None:
    result = dataclasses.replace(PROVEN, status=status)
    proofs(tmp_path, LEFT, heard).keep_proven(("donation",), (), result, [])
    assert (proofs(tmp_path, LEFT, heard).proven(("donation",), ()) is None) == (status is Status.FAILED)
    proofs(tmp_path, LEFT, heard).keep_ready(Ready(1.0, Cost(), [result]), [])
    assert (proofs(tmp_path, LEFT, heard).ready() is None) == (status is Status.FAILED)


@pytest.mark.parametrize(
    ("request_", "left", "trying", "used"),
    [
        ({"proofs": True}, {}, {}, True),
        ({}, {}, {}, False),
        ({"proofs": True}, {"content": ""}, {}, False),  # it could not be exported
        ({"proofs": True}, {"refused": "a callback"}, {}, False),
        ({"proofs": True}, {}, {"dump": "folder"}, False),  # what is dumped has to be made
    ],
)
def test_when_the_cache_is_asked(
    request_: dict[str, Any], left: dict[str, Any], trying: dict[str, Any], used: bool
) -> None:
    run = Run(Request("script", "train.py", **request_))
    assert (stored_proofs(run, Trying(**trying), dataclasses.replace(LEFT, **left)) is not None) is used
