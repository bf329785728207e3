"""What counts as a change of the files of a run."""

from __future__ import annotations

import os
from pathlib import Path

from jaxlint.config import load_config
from jaxlint.watch import changed, snapshot, wait_for_change


def test_what_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jaxlint]\nextend-exclude = ["out.py"]\n')
    for name in ("a.py", "out.py", "notes.txt"):
        (tmp_path / name).write_text("")
    config = load_config([tmp_path])
    before = snapshot([str(tmp_path)], config)
    (tmp_path / "out.py").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    assert changed(before, snapshot([str(tmp_path)], config)) == []
    (tmp_path / "b.py").write_text("")
    (tmp_path / "a.py").unlink()
    (tmp_path / "jaxlint.toml").write_text("")
    names = [path.name for path in changed(before, snapshot([str(tmp_path)], config))]
    assert names == ["a.py", "b.py", "jaxlint.toml"]


def test_a_change_that_keeps_the_size(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    config = load_config([tmp_path])
    before = snapshot([str(tmp_path)], config)
    (tmp_path / "a.py").write_text("y")
    os.utime(tmp_path / "a.py", ns=(1, 1))
    assert [path.name for path in changed(before, snapshot([str(tmp_path)], config))] == ["a.py"]


def test_it_waits_until_nothing_changes_any_more() -> None:
    states = [{"a": (1, 1)}, {"a": (1, 1)}, {"a": (2, 1)}, {"a": (3, 1)}, {"a": (3, 1)}]
    slept: list[float] = []
    looks = iter(states)
    state, changes = wait_for_change(lambda: next(looks), states[0], slept.append)
    assert (state, changes) == ({"a": (3, 1)}, [Path("a")])
    assert next(looks, None) is None
    assert len(slept) == 4
