"""Programs as people write them, each after a real report: what is wrong in the bad ones is found, the good ones are left alone.

`tests/programs` holds them, and beside them the tables (`index*.json`). A row says of a program

- `kind`: `bad` or `good`, and of which `family` of mistakes it is an example, or the look-alike;
- `lines`: where the mistake is. A finding stands on each of these lines, or on one of `also_ok`, which is as good a place;
- `missed`: that the mistake is not found yet, or why it is not. Whoever finds it takes the word away;
- `other`: lines with a finding of another kind, which is right as well;
- `source`: the report that the program was written after.

All but those of `index.json` and `index_performance.json` were written before their authors had looked at what the rules find.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"
ROWS = [row for table in sorted(PROGRAMS.glob("index*.json")) for row in json.loads(table.read_text())]
BAD = [row for row in ROWS if row["kind"] == "bad"]
GOOD = [row for row in ROWS if row["kind"] == "good"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[int]]:
    """The lines with an error or a warning in each program: each is a project of its own, and no test."""
    folder = tmp_path_factory.mktemp("programs")
    homes = {f"program{number}": row["path"] for number, row in enumerate(ROWS)}
    for home, path in homes.items():
        (folder / home).mkdir()
        (folder / home / "program.py").write_text((PROGRAMS / path).read_text())
    run = subprocess.run(
        [sys.executable, "-m", "jaxlint", "check", "--no-cache", "--output-format", "json", str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    lines: dict[str, set[int]] = defaultdict(set)
    for finding in json.loads(run.stdout):
        if finding["severity"] in ("error", "warning"):
            lines[homes[Path(finding["path"]).parent.name]].add(finding["line"])
    return lines


def caught(row: dict, lines: set[int]) -> bool:
    return set(row["lines"]) <= lines or bool(set(row.get("also_ok", ())) & lines)


def test_mistakes_are_found(found):
    missed = {
        row["path"]: row["lines"]
        for row in BAD
        if not row.get("missed") and not caught(row, found[row["path"]])
    }
    assert missed == {}


def test_what_is_missed_is_said_to_be(found):
    now_found = [row["path"] for row in BAD if row.get("missed") and caught(row, found[row["path"]])]
    assert now_found == []


def test_good_programs_are_left_alone(found):
    noise = {row["path"]: found[row["path"]] - set(row.get("other", ())) for row in GOOD}
    assert {path: lines for path, lines in noise.items() if lines} == {}


def test_tables_and_programs_agree():
    files = {path.relative_to(PROGRAMS).as_posix() for path in PROGRAMS.glob("*/*.py")}
    assert sorted(row["path"] for row in ROWS) == sorted(files)
    for row in BAD:
        length = len((PROGRAMS / row["path"]).read_text().splitlines())
        assert row["lines"], row["path"]
        assert all(1 <= line <= length for line in [*row["lines"], *row.get("also_ok", ())]), row["path"]
