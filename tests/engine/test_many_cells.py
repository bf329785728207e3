"""The work for a notebook grows with its cells, and not with their square."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jaxlint
from jaxlint.codemods.source import text_edits

CELLS = 400


def test_the_lines_of_a_notebook_are_counted_a_few_times_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["import jax", *(f"y{n} = jax.tree_map(abs, {n})" for n in range(CELLS))]
    cells = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": [one],
        }
        for n, one in enumerate(lines)
    ]
    (tmp_path / "a.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    counted = 0
    split = text_edits.split_lines

    def counting(text: str) -> list[str]:
        nonlocal counted
        counted += len(text) > 5 * CELLS
        return split(text)

    monkeypatch.setattr(text_edits, "split_lines", counting)
    fixed = jaxlint.fix([tmp_path])
    assert len(fixed.applied) == CELLS
    assert counted < 20
