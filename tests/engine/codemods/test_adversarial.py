"""Programs that are ordinary, and that compiling a function would change: none is, and the reason is said."""

from __future__ import annotations

import pytest

from tests.adversarial.programs import INDEX, refusal


@pytest.mark.parametrize("name", INDEX["dangerous"])
def test_a_dangerous_edit_is_refused_with_its_reason(name: str) -> None:
    reason = refusal("dangerous", name)
    assert reason is not None
    assert INDEX["dangerous"][name]["refused"] in reason


@pytest.mark.parametrize("name", INDEX["fine"])
def test_what_looks_like_it_and_is_fine_is_compiled(name: str) -> None:
    assert refusal("fine", name) is None
