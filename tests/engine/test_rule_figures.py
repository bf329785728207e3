"""The figures of rules on real code: verdicts are found by what a line says, and rules that are often wrong are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rules import verdicts
from benchmarks.rules.__main__ import Row, place_of, tabulate
from benchmarks.rules.verdicts import BadVerdicts, Place, Verdict
from jaxlint.registry import all_rules


def finding(code: str, text: str, file: str = "train.py") -> dict[str, object]:
    return {"code": code, "repository": "lib", "file": file, "text": text}


def test_a_verdict_follows_its_line() -> None:
    moved = place_of(finding("JAX301", "    a = draw(key)"))
    assert moved == place_of(finding("JAX301", "a = draw(key)"))
    assert moved != place_of(finding("JAX301", "a = draw(other)"))
    known = [Verdict(moved, "right")]
    rows = {
        row.code: row for row in tabulate([finding("JAX301", "a = draw(key)"), finding("JAX301", "b")], known)
    }
    assert (rows["JAX301"].findings, len(rows["JAX301"].read), rows["JAX301"].right) == (2, 1, 1)


def test_a_verdict_on_what_is_no_longer_found_does_not_count() -> None:
    known = [Verdict(place_of(finding("JAX301", "a")), "wrong")]
    assert all(not row.read for row in tabulate([], known))


@pytest.mark.parametrize(
    ("level", "right", "wrong", "advice"),
    [
        ("warning", 4, 2, "should be preview"),
        ("warning", 9, 1, ""),
        ("warning", 1, 1, ""),
        ("preview", 6, 1, "may leave preview"),
        ("preview", 1, 5, ""),
    ],
)
def test_advice(level: str, right: int, wrong: int, advice: str) -> None:
    row = Row("JAX301", "key-reuse", level)
    for number in range(right + wrong):
        place = Place("JAX301", "lib", "f.py", str(number))
        row.read[place] = Verdict(place, "right" if number < right else "wrong")
    assert row.advice.startswith(advice)
    assert bool(row.advice) == bool(advice)


def test_the_file_of_verdicts_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    one = Verdict(Place("JAX301", "lib", "a.py", "0123"), "wrong", "meant")
    two = Verdict(Place("JAX1001", "lib", "a.py", "0123"), "right")
    verdicts.write([two, one], path)
    assert verdicts.read(path) == [one, two]
    path.write_text('[{"rule": "JAX301"}]')
    with pytest.raises(BadVerdicts, match="entry 1 has no 'repository'"):
        verdicts.read(path)
    path.write_text("nothing")
    with pytest.raises(BadVerdicts, match="cannot be read"):
        verdicts.read(path)


def test_the_committed_verdicts_are_of_rules_that_exist() -> None:
    codes = {rule.code for rule in all_rules()}
    known = verdicts.read()
    assert known
    assert {verdict.place.rule for verdict in known} <= codes
    assert len({verdict.place for verdict in known}) == len(known)
