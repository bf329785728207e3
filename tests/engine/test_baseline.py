"""Known findings, told from new ones by what they say and by the text of their line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from jaxlint.config import Config, ConfigError
from jaxlint.finding import Finding, Severity, Span
from jaxlint.narrowing.baseline import (
    Baseline,
    Entry,
    entries_of,
    place_of,
    read_baseline,
    write_baseline,
)
from jaxlint.source import SourceFile, source_from_bytes

CODES = frozenset({"JAX101", "JAX901"})


def source(folder: Path, name: str, text: str) -> SourceFile:
    path = folder / name
    path.write_text(text)
    return source_from_bytes(text.encode(), path, name)


def finding(path: str, line: int, *, code: str = "JAX101", function: str = "step") -> Finding:
    span = Span(line, 1, line, 2)
    return Finding(path, span, code, "some-rule", "tracing", Severity.ERROR, "It is wrong", "so", function)


def baseline(folder: Path, found: list[Finding], *sources: SourceFile) -> Baseline:
    path = folder / "base.jsonl"
    write_baseline(path, entries_of(found, {one.display: one for one in sources}, folder))
    return read_baseline(path)


def test_a_finding_stays_known_when_lines_move(tmp_path: Path) -> None:
    known = baseline(tmp_path, [finding("a.py", 2)], source(tmp_path, "a.py", "def step(x):\n    if x: y\n"))
    moved = source(tmp_path, "a.py", "import os\n\n\ndef step(x):\n        if x:   y\n")
    split = known.split([finding("a.py", 5)], {"a.py": moved}, codes=CODES)
    assert (split.new, len(split.known), split.stale) == ([], 1, [])


def test_an_entry_stands_for_one_finding(tmp_path: Path) -> None:
    file = source(tmp_path, "a.py", "if x: y\nif x: y\n")
    known = baseline(tmp_path, [finding("a.py", 1)], file)
    split = known.split([finding("a.py", 1), finding("a.py", 2)], {"a.py": file}, codes=CODES)
    assert (len(split.known), len(split.new)) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(finding("a.py", 1, code="JAX901"), id="another-rule"),
        pytest.param(finding("a.py", 2), id="another-line"),
        pytest.param(finding("b.py", 1), id="another-file-though-the-first-is-there"),
    ],
)
def test_new(tmp_path: Path, other: Finding) -> None:
    files = [source(tmp_path, "a.py", "if x: y\nif z: y\n"), source(tmp_path, "b.py", "if x: y\n")]
    known = baseline(tmp_path, [finding("a.py", 1)], *files)
    split = known.split([other], {one.display: one for one in files}, codes=CODES)
    assert split.new == [other]
    assert len(split.stale) == 1


def test_a_renamed_function_and_a_renamed_file(tmp_path: Path) -> None:
    old = source(tmp_path, "a.py", "if x: y\nif z: y\n")
    known = baseline(tmp_path, [finding("a.py", 1), finding("a.py", 2, function="other")], old)
    split = known.split([finding("a.py", 1, function="renamed")], {"a.py": old}, codes=CODES)
    assert (split.new, [entry.function for entry in split.kept]) == ([], ["renamed"])
    old.path.unlink()
    new = source(tmp_path, "b.py", "if x: y\nif z: y\n")
    found = [finding("b.py", 1), finding("b.py", 2, function="other")]
    split = known.split(found, {"b.py": new}, codes=CODES)
    assert split.new == []
    assert {entry.path for entry in split.kept} == {"b.py"}


def test_only_what_the_run_could_have_met_is_stale(tmp_path: Path) -> None:
    files = {name: source(tmp_path, name, "if x: y\n") for name in ("a.py", "b.py", "c.py")}
    found = [finding("a.py", 1), finding("a.py", 1, code="JAX901"), finding("b.py", 1), finding("c.py", 1)]
    known = baseline(tmp_path, found, *files.values())
    run = {name: files[name] for name in ("a.py", "b.py")}
    split = known.split([], run, codes=frozenset({"JAX101"}), unread=[str(tmp_path / "b.py")])
    assert [(entry.path, entry.code) for entry in split.stale] == [("a.py", "JAX101")]
    assert len(split.unseen) == 3


def test_entries_of_a_deleted_file_are_stale_where_all_is_searched(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    old = source(tmp_path, "a.py", "if x: y\n")
    known = baseline(tmp_path, [finding("a.py", 1)], old)
    old.path.unlink()
    assert known.split([], {}, codes=CODES, searched=[tmp_path / "sub"]).stale == []
    assert len(known.split([], {}, codes=CODES, searched=[tmp_path]).stale) == 1


def test_the_file_does_not_depend_on_the_order_of_findings(tmp_path: Path) -> None:
    file = source(tmp_path, "a.py", "é = x\n" * 20)
    found = [finding("a.py", line, function=f"f{line % 7}") for line in range(1, 21)]
    texts = set()
    for seed in range(5):
        random.Random(seed).shuffle(found)
        texts.add(baseline(tmp_path, found, file).path.read_text(encoding="utf-8"))
    [text] = texts
    first, *lines = text.splitlines()
    assert first == '{"jaxlint-baseline": 1}'
    assert lines == sorted(lines)
    assert len(lines) == 20


def test_a_merge_that_kept_the_lines_of_both_sides_can_be_read(tmp_path: Path) -> None:
    file = source(tmp_path, "a.py", "if x: y\n")
    known = baseline(tmp_path, [finding("a.py", 1)], file)
    text = known.path.read_text()
    known.path.write_text(text + "\n" + text)
    assert read_baseline(known.path).entries == known.entries * 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "first line must be", id="empty"),
        pytest.param(b"[1]\n", "first line must be", id="another-file"),
        pytest.param(b"[" * 100_000, "first line must be", id="nested"),
        pytest.param(b'{"jaxlint-baseline": 2}\n', "first line must be", id="another-version"),
        pytest.param(b'{"jaxlint-baseline": 1}\n{"path": 3}\n', "base.jsonl:2: not an entry", id="no-entry"),
        pytest.param(b'{"jaxlint-baseline": 1}\n<<<<<<< HEAD\n', "base.jsonl:2: a conflict", id="conflict"),
        pytest.param(b"\xff\xfe", "not UTF-8", id="binary"),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "base.jsonl"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=said) as caught:
        read_baseline(path)
    assert "\n" not in str(caught.value)


def test_an_entry_that_is_not_text_can_be_written_again(tmp_path: Path) -> None:
    path = tmp_path / "base.jsonl"
    entry = '{"path": "\\ud800.py", "code": "JAX101", "function": "\\udcff", "text": "\\u0000"}'
    path.write_text(f'{{"jaxlint-baseline": 1}}\n{entry}\n')
    known = read_baseline(path)
    write_baseline(path, known.entries)
    assert [one.code for one in read_baseline(path).entries] == ["JAX101"]


@pytest.mark.parametrize("name", ["../base.jsonl", "/etc/passwd", ".git/hooks/pre-commit", "link/base.jsonl"])
def test_settings_name_no_file_outside_of_the_project(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="inside the project"):
        place_of(Config(project, source=Path("pyproject.toml"), baseline=name))


def test_where_the_file_is(tmp_path: Path) -> None:
    config = Config(tmp_path, baseline="ci/base.jsonl")
    assert place_of(config) == tmp_path / "ci/base.jsonl"
    assert place_of(config, Path("/other/base.jsonl")) == Path("/other/base.jsonl")
    assert place_of(Config(tmp_path)) is None


def test_an_entry_is_readable(tmp_path: Path) -> None:
    file = source(tmp_path, "a.py", "    if  x > 0:\n")
    assert entries_of([finding("a.py", 1)], {"a.py": file}, tmp_path) == [
        Entry("a.py", "JAX101", "step", "if x > 0:")
    ]
