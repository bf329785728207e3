"""Arrays that a loop of the host runs over side by side may differ in length on a path that no run took: JAX would raise there."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source import SourceFile

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HEAD = "import jax\nimport jax.numpy as jnp\n\n"


def rewritten(text: str, *, strict: bool = True) -> str:
    """The file with its first loop as a scan."""
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    site = Site(source)
    loop = next(node for node in ast.walk(site.tree) if isinstance(node, ast.For))
    workspace = Workspace({"a.py": source}, strict=strict)
    plan = workspace.plan(
        FixRequest(Safety.UNSAFE, "Scan", (Step("for-to-scan", "a.py", site.span(loop.iter)),))
    )
    assert not isinstance(plan, str), plan
    return workspace.edited([plan])["a.py"].text


def value_of(text: str, *arguments: Any) -> np.ndarray:
    """What the function `f` of a file gives."""
    names: dict[str, Any] = {}
    exec(text, names)
    return np.asarray(names["f"](*arguments))


@pytest.mark.parametrize(
    "loop",
    [
        "for x, y in zip(xs, ys):\n        w = jnp.tanh(w + x * y)",
        "for y, x in zip(ys, xs):\n        w = jnp.tanh(w + x * y)",
        "for i, (x, y) in enumerate(zip(xs, ys)):\n        w = jnp.tanh(w + x * y * i)",
        "for x, y, z in zip(xs, ys, zs):\n        w = jnp.tanh(w + x * y - z)",
        "for y, x in reversed(list(zip(ys, xs))):\n        w = jnp.tanh(w + x * y)",
    ],
)
@pytest.mark.parametrize("rows", [(5, 5, 5), (5, 8, 6), (8, 5, 3)])
def test_a_loop_over_several_arrays_ends_with_the_shortest(loop: str, rows: tuple[int, ...]) -> None:
    text = f"{HEAD}def f(xs, ys, zs, w):\n    {loop}\n    return w\n"
    arrays = [jnp.linspace(0.1, n, n) for n in rows]
    new = rewritten(text)
    assert "jax.lax.scan(" in new
    np.testing.assert_allclose(value_of(new, *arrays, 0.5), value_of(text, *arrays, 0.5), rtol=1e-6)


@pytest.mark.parametrize("rows", [5, 9])
def test_a_loop_over_the_rows_of_one_array_reads_no_more_of_another(rows: int) -> None:
    text = f"{HEAD}def f(xs, ys, w):\n    for i in range(len(xs)):\n        w = jnp.tanh(w + xs[i] * ys[i])\n    return w\n"
    arrays = [jnp.linspace(0.1, 1.0, 5), jnp.linspace(0.1, 1.0, rows)]
    new = rewritten(text)
    assert "jax.lax.scan(" in new
    np.testing.assert_allclose(value_of(new, *arrays, 0.5), value_of(text, *arrays, 0.5), rtol=1e-6)


@pytest.mark.parametrize(
    "over", ["zip(xs[1:], xs[:-1])", "zip(xs, xs)", "zip(xs, ys, strict=True)", "zip(xs, xs * 2)"]
)
def test_what_is_as_long_or_raises_by_itself_is_left_whole(over: str) -> None:
    text = (
        f"{HEAD}def f(xs, ys, w):\n    for x, y in {over}:\n        w = jnp.tanh(w + x * y)\n    return w\n"
    )
    assert "[: len(" not in rewritten(text)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("rows = jnp.ones((4, 3))", ""),
        ("rows = jnp.ones((4, 3))\nif flag:\n    rows = [jnp.ones(3), jnp.ones(2)]", "may be a list"),
        ("rows = [jnp.ones(3), jnp.ones(3)]\nrows = jnp.stack(rows)", ""),
        (
            "rows = jnp.ones((4, 3))\nif flag:\n    rows = [row for row in rows if row.sum() > 1]",
            "may be a list",
        ),
        ("rows = jnp.ones((4, 3))\nif flag:\n    rows = (row for row in rows)", "may be an iterator"),
    ],
)
def test_what_a_loop_runs_over_may_be_a_list_behind_a_flag(before: str, told: str) -> None:
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    text = (
        f"{HEAD}def f(rows):\n    w = 0.0\n    for row in rows:\n        w = jnp.tanh(w + row.sum())\n    return w\n\n"
        f"def main(flag):\n{lines}    print(f(rows))\n\nmain(False)\n"
    )
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    site = Site(source)
    loop = next(node for node in ast.walk(site.tree) if isinstance(node, ast.For))
    plan = Workspace({"a.py": source}, strict=True).plan(
        FixRequest(Safety.UNSAFE, "Scan", (Step("for-to-scan", "a.py", site.span(loop.iter)),))
    )
    assert told in plan if told and isinstance(plan, str) else not told and not isinstance(plan, str), plan
