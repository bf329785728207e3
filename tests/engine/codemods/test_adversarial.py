"""Programs that are ordinary, and that compiling a function would change: none is, and the reason is said."""

from __future__ import annotations

import pytest

from tests.helpers.adversarial import programs, refusal

DANGEROUS, FINE = programs("dangerous"), programs("fine")


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_edit_is_refused_with_its_reason(name: str) -> None:
    expected = DANGEROUS[name].refused
    reason = refusal(DANGEROUS[name])
    assert reason is not None
    assert expected is not None
    assert expected in reason


@pytest.mark.parametrize("name", FINE)
def test_what_looks_like_it_and_is_fine_is_compiled(name: str) -> None:
    assert FINE[name].refused is None
    assert refusal(FINE[name]) is None
