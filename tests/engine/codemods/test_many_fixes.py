"""Thousands of fixes in one file: the work for each does not grow with their number; counted in calls, since times vary."""

from __future__ import annotations

import sys
from types import FrameType

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.text_edits import Lines
from jaxlint.finding import FixRequest, Safety, Step
from tests.engine.codemods.conftest import source_file


def calls(number: int) -> int:
    """The calls that Python makes to resolve so many fixes in one file."""
    functions = (f"def g{i}(x):\n    return jax.tree_map(f, x)\n" for i in range(number))
    text = "import jax\nimport jax.numpy as jnp\n\n\ndef f(x):\n    return x\n\n\n" + "\n\n".join(functions)
    lines = Lines(text)
    fixes = []
    position = 0
    for _ in range(number):
        position = text.index("jax.tree_map", position + 1)
        span = lines.span(position, position + len("jax.tree_map"))
        step = Step("rename-api", "a.py", span, {"old": "jax.tree_map", "new": "jax.tree_util.tree_map"})
        fixes.append(FixRequest(Safety.SAFE, "test", (step,)))
    workspace = Workspace({"a.py": source_file(text, "a.py")})
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        proposals = workspace.proposals(fixes)
    finally:
        sys.setprofile(None)
    assert all(proposal.fix is not None for proposal in proposals)
    return count


def test_the_work_for_a_fix_does_not_grow_with_their_number() -> None:
    calls(10)
    few, some, more = (calls(number) for number in (10, 200, 800))
    assert (more - few) / (some - few) < 4.6  # four times as many
