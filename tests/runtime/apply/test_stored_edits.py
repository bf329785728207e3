"""An edit of the source that an earlier run of `verify` proved is compared again before it is written."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jaxlint.source import SourceFile
from jaxlint_runtime.apply import apply_proven

OLD = SourceFile(Path("train.py"), "train.py", "x = 1\n", "utf-8", False, "")


def verification(earlier: str, *, time: bool = True) -> Any:
    result = {
        "status": "verified",
        "candidate": "source",
        "path": "train.py",
        "function": "main",
        "reason": "2x as fast",
    }
    if earlier:
        result["earlier"] = earlier
    return SimpleNamespace(
        document=SimpleNamespace(results=[(0, result)]),
        rewritten=[SimpleNamespace(source=OLD, text="x = 2\n")],
        request=SimpleNamespace(project=lambda: Path(), has_time=lambda seconds: time),
        run_seconds=1.0,
        fails=False,
        listener=SimpleNamespace(note=lambda text: None),
        check=SimpleNamespace(sources={"train.py": OLD}),
    )


@pytest.mark.parametrize(
    ("earlier", "difference", "time", "written", "compared"),
    [
        ("", None, True, True, 0),
        ("2026-11-27", None, True, True, 1),
        ("2026-11-27", "the results differ", True, False, 1),
        ("2026-11-27", None, False, False, 0),
    ],
)
def test_compared_before_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
    earlier: str,
    difference: str | None,
    time: bool,
    written: bool,
    compared: int,
) -> None:
    stored: list[Any] = []
    asked: list[str] = []
    said: list[str] = []

    def values_of(sources: Any, functions: Any) -> str | None:
        asked.append(sources["train.py"].text)
        return difference

    monkeypatch.setattr(apply_proven, "not_to_be_changed", lambda *_: None)
    monkeypatch.setattr(apply_proven, "_store", lambda changes, project: stored.append(changes))
    monkeypatch.setattr(apply_proven, "record", lambda document, result, done, message: said.append(message))
    given = verification(earlier, time=time)
    given.values_of = values_of
    assert apply_proven._write_source(given, False) is written
    assert bool(stored) is written
    assert asked == ["x = 2\n"] * compared
    assert said[0].startswith("written as tried" if written else "not changed: ")
