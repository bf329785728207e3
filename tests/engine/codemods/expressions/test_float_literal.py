"""`float-literal`."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("before", "after"), [("f(«2»)\n", "f(2.0)\n"), ("f(«-1_000»)\n", "f(-1_000.0)\n")])
def test_rewrites(rewrite, before, after):
    assert rewrite("float-literal", before) == after


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("f(«n»)\n", "not an integer literal"),
        ("f(«True»)\n", "not an integer literal"),
        ("f(«0x10»)\n", "not a decimal literal"),
    ],
)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("float-literal", before)
    assert answer.startswith("refused: ")
    assert reason in answer
