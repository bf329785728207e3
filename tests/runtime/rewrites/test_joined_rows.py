"""`jnp.array` of the host's rows: the proposed edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.rewrites.joined_rows import from_rows
from jaxlint_runtime.rewrites.tried_edit import edited

PROGRAM = """import jax.numpy as jnp


class Memory:
    def draw(self, rows):
        seen, told = zip(*rows)
        return jnp.array(seen), jnp.asarray([one for one in told], dtype=jnp.float32)


def lazy(rows):
    return jnp.array(x for x in rows)
"""


def call(path: Path, place: list[int], function: str, seconds: float) -> dict[str, Any]:
    return {"path": str(path), "function": function, "place": place, "calls": 9, "seconds": seconds}


def test_the_rows_of_a_function_are_joined(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(PROGRAM)
    sources = {str(path): read_source(path, str(path))}
    first = call(path, [7, 7, 15, 30], "Memory.draw", 1.0)
    second = call(path, [7, 7, 32, 85], "Memory.draw", 0.5)
    others = [call(path, [11, 11, 11, 37], "lazy", 1.0), call(path, [1, 1, 0, 3], "other", 1.0)]
    (rewrite,) = from_rows([first, second, *others, {**first, "path": "elsewhere.py"}], sources)
    assert rewrite.function == "Memory.draw"
    assert rewrite.estimate == pytest.approx(1.2)
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    text = new[str(path)].text
    assert "import numpy as np" in text
    assert (
        "jnp.array(np.array(seen)), jnp.asarray(np.array([one for one in told]), dtype=jnp.float32)" in text
    )
