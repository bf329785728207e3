"""Thousands of fixes in one file: the time of each does not grow with their number."""

from __future__ import annotations

import time

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.text_edits import Lines
from jaxlint.finding import FixRequest, Safety, Step
from tests.engine.codemods.conftest import source_file


def seconds(number: int) -> float:
    """The processor time to resolve so many fixes in one file."""
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
    start = time.process_time()
    proposals = Workspace({"a.py": source_file(text, "a.py")}).proposals(fixes)
    used = time.process_time() - start
    assert all(proposal.fix is not None for proposal in proposals)
    return used


def test_the_time_of_a_fix_does_not_grow_with_their_number() -> None:
    seconds(10)
    some, more = (
        min(seconds(number) for _ in range(3)) for number in (800, 3200)
    )  # the least: others use the machine
    assert more < 10 * some
