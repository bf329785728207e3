"""Which rule packs there are."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from jaxlint import registry


def test_the_built_in_rules_are_there_where_no_installer_named_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the sources on the path has no metadata; without rules it would find nothing."""
    house = EntryPoint("house", "house:rules", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [house])
    built_in, other = registry.packs()
    assert other is house
    assert len(list(built_in.load()())) > 100


def test_the_built_in_rules_are_there_once() -> None:
    assert [entry.value for entry in registry.packs()].count(registry.BUILT_IN) == 1
