"""`float-literal`."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("before", "after"), [("f(«2»)\n", "f(2.0)\n"), ("f(«-1_000»)\n", "f(-1_000.0)\n")])
def test_rewrites(rewrite, before, after):
    assert rewrite("float-literal", before) == after


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("f(«n»)\n", "not written as a whole number"),
        ("f(«True»)\n", "not written as a whole number"),
        ("f(«0x10»)\n", "not written in decimals"),
    ],
)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("float-literal", before)
    assert answer.startswith("refused: ")
    assert reason in answer
