"""Entries of the proof cache: only this user's count, whatever lies in the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jaxlint_runtime.proof_cache import proof_entries
from jaxlint_runtime.proof_cache.proof_entries import ProofCache


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "jaxlint" / "proofs"


def stored(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def test_an_answer_is_found_by_what_it_is_about_alone(folder: Path) -> None:
    ProofCache(folder).entry("function", "digest", {"a": 1}).keep("donation", {"status": "verified"})
    found = ProofCache(folder).entry("function", "digest", {"a": 1}).answer("donation")
    assert found is not None
    assert found[0] == {"status": "verified"}
    assert found[1].startswith("20")
    assert ProofCache(folder).entry("function", "digest", {"a": 2}).answer("donation") is None
    assert ProofCache(folder).entry("program", "digest", {"a": 1}).answer("donation") is None
    assert ProofCache(folder).entry("function", "digest", {"a": 1}).answer("remat") is None


def test_answers_are_added_one_by_one(folder: Path) -> None:
    first = ProofCache(folder).entry("function", "digest")
    first.keep("one", 1)
    assert len(stored(folder)) == 1
    ProofCache(folder).entry("function", "digest").keep("two", 2)
    entry = ProofCache(folder).entry("function", "digest")
    assert [entry.answer(name) is not None for name in ("one", "two")] == [True, True]


def test_another_version_of_jaxlint_finds_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ProofCache(folder).entry("function", "digest").keep("one", 1)
    monkeypatch.setattr(proof_entries, "tools", lambda: "another")
    assert ProofCache(folder).entry("function", "digest").answer("one") is None


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "link", "folder"])
def test_a_damaged_entry_is_as_none(folder: Path, damage: str) -> None:
    ProofCache(folder).entry("function", "digest").keep("one", "rejected")
    (path,) = stored(folder)
    data = path.read_bytes()
    path.unlink()
    if damage == "link":
        (folder / "elsewhere").write_bytes(data.replace(b"rejected", b"verified"))
        path.symlink_to(folder / "elsewhere")
    elif damage == "folder":
        path.mkdir()
    else:
        kinds = {"cut": data[:-9], "changed": data.replace(b"rejected", b"verified"), "empty": b""}
        path.write_bytes(kinds[damage])
    assert ProofCache(folder).entry("function", "digest").answer("one") is None


def test_an_entry_of_another_user_is_as_none(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    ProofCache(folder).entry("function", "digest").keep("one", 1)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ours"))
    assert ProofCache(folder).entry("function", "digest").answer("one") is None


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_a_folder_that_others_may_write_to_is_not_used(folder: Path) -> None:
    ProofCache(folder).entry("function", "digest").keep("one", 1)
    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    assert ProofCache(folder).entry("function", "digest").answer("one") is None
    ProofCache(folder).entry("function", "other").keep("one", 1)
    assert len(stored(folder)) == 1


def test_the_folder_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_entries, "_MOST_ENTRIES", 3)
    for number in range(5):
        ProofCache(folder).entry("function", number).keep("one", 1)
    assert len(stored(folder)) == 3
    assert ProofCache(folder).entry("function", 4).answer("one") is not None
