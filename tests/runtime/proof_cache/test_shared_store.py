"""Entries in a place that others share: only those count that were signed with the same secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint_runtime.proof_cache.proof_entries import ProofCache
from jaxlint_runtime.proof_cache.shared_store import KEY, SharedStore, Unusable

SECRET = "a secret of the team"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)


def of_user(folder: Path, place: str) -> ProofCache:
    return ProofCache(folder, SharedStore(place))


@pytest.mark.parametrize("form", ["{}", "file://{}", "memory://{}"])
def test_an_answer_of_one_user_is_found_by_another(tmp_path: Path, form: str) -> None:
    place = form.format(tmp_path / "shared")
    of_user(tmp_path / "first", place).entry("function", "digest").keep("donation", {"status": "verified"})
    found = of_user(tmp_path / "second", place).entry("function", "digest").answer("donation")
    assert found is not None
    assert found[0] == {"status": "verified"}


def test_own_answers_come_first_and_are_kept_without_the_place(tmp_path: Path) -> None:
    place = str(tmp_path / "shared")
    of_user(tmp_path / "first", place).entry("function", "digest").keep("one", "theirs")
    ProofCache(tmp_path / "second").entry("function", "digest").keep("one", "ours")
    found = of_user(tmp_path / "second", place).entry("function", "digest").answer("one")
    assert found is not None
    assert found[0] == "ours"


@pytest.mark.parametrize("damage", ["secret", "changed", "other"])
def test_what_was_not_signed_with_the_secret_is_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    place = tmp_path / "shared"
    of_user(tmp_path / "first", str(place)).entry("function", "digest").keep("one", "rejected")
    (path,) = place.glob("*.json")
    if damage == "secret":
        monkeypatch.setenv(KEY, "the secret of somebody else")
    elif damage == "changed":
        path.write_bytes(path.read_bytes().replace(b"rejected", b"verified"))
    else:
        other = of_user(tmp_path / "third", str(tmp_path / "elsewhere")).entry("function", "other")
        other.keep("one", "verified")
        (tmp_path / "elsewhere").glob("*.json").__next__().replace(path)
    assert of_user(tmp_path / "second", str(place)).entry("function", "digest").answer("one") is None


def test_a_place_that_takes_nothing_is_said_once(tmp_path: Path) -> None:
    place = tmp_path / "shared"
    store = SharedStore(str(place))
    place.rmdir()
    cache = ProofCache(tmp_path / "own", store)
    for name in ("one", "two"):
        cache.entry("function", "digest").keep(name, 1)
    assert store.problem == f"proofs are not kept in {place}: No such file or directory"
    assert cache.entry("function", "digest").answer("two") is not None


def test_a_secret_has_to_be_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "short")
    with pytest.raises(Unusable, match="shorter than 16 characters"):
        SharedStore(str(tmp_path))


def test_a_file_system_that_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="--proof-cache nowhere://proofs: "):
        SharedStore("nowhere://proofs")
