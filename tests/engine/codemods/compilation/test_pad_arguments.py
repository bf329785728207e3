"""`pad-arguments`: which calls and reductions are written, and that the program then prints the same with one compile."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any

import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"
DICT = f"""{HEAD}def pool(w, graph):
    h = jnp.cos(graph["x"] @ w)
    return jnp.mean(h, axis=0)


def loss(w, graph):
    total = jnp.zeros(2).at[graph["ids"]].add(1.0)
    return jnp.sum(pool(w, graph) ** 2) + total @ jnp.arange(2.0)


graphs = [{{"x": np.arange(3.0 * n).reshape(n, 3) / n, "ids": np.arange(n) % 2}} for n in range(2, 7)]
step = jax.jit(jax.value_and_grad(loss))
for graph in graphs:
    value, grads = «step(np.ones((3, 2)), graph)»
    print(f"{{value:.4f}} {{grads.sum():.4f}}")
print(pool(np.ones((3, 2)), graphs[0]).round(4), step._cache_size())
"""
PLAIN = f"""{HEAD}@jax.jit
def step(w, x, ids):
    return jnp.zeros(2).at[ids].add(jnp.cos(x) @ w)


for n in range(2, 7):
    batch = np.arange(3.0 * n).reshape(n, 3), np.arange(n) % 2
    print(np.round(«step(np.ones(3), *batch)», 4))
print(step._cache_size())
"""


def place(text: str, expression: str) -> list[int]:
    for node in ast.walk(ast.parse(text.replace("«", "").replace("»", ""))):
        if isinstance(node, ast.Call) and ast.unparse(node) == expression:
            return [node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0]
    raise KeyError(expression)


def array(argument: int, key: str | None, *, outside: bool = False) -> dict[str, Any]:
    return {"argument": argument, "key": key, "multiple": 8, "outside": outside, "group": 0}


def data(text: str, call: str, arrays: list[dict[str, Any]], *masks: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"calls": [place(text, call)], "names": ["w", "x", "ids"], "arrays": arrays, "masks": list(masks)}
    ]


def mask(text: str, call: str, *around: str, rank: int = 2) -> dict[str, Any]:
    chains = [[["program.py", *place(text, one)] for one in around]]
    return {"place": place(text, call), "group": 0, "axis": 0, "rank": rank, "floats": True, "chains": chains}


GRAPH = [array(1, "x"), array(1, "ids", outside=True)]


def printed(program: str) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    return out.getvalue().split()


def test_the_items_of_a_dict_and_a_mask(rewrite: Rewrite) -> None:
    functions = data(
        DICT, "step(np.ones((3, 2)), graph)", GRAPH, mask(DICT, "jnp.mean(h, axis=0)", "pool(w, graph)")
    )
    new = rewrite("pad-arguments", DICT, functions=functions)
    assert 'step(np.ones((3, 2)), pad_graph(graph), mask=real_rows(graph["x"], 8))' in new
    assert "def pool(w, graph, mask=None):" in new
    assert "jnp.mean(h, axis=0, where=None if mask is None else mask[:, None])" in new
    assert "pool(w, graph, mask=mask)" in new
    assert '"ids": pad_rows(graph["ids"], 8, NO_ROW),' in new
    before, after = printed(DICT.replace("«", "").replace("»", "")), printed(new)
    assert before[:-1] == after[:-1]
    assert (before[-1], after[-1]) == ("5", "1")


def test_unpacked_arguments(rewrite: Rewrite) -> None:
    arrays = [array(1, None), array(2, None, outside=True)]
    new = rewrite("pad-arguments", PLAIN, functions=data(PLAIN, "step(np.ones(3), *batch)", arrays))
    assert "step(np.ones(3), *pad_batch(*batch))" in new
    assert "def pad_batch(x, ids):" in new
    before, after = printed(PLAIN.replace("«", "").replace("»", "")), printed(new)
    assert before[:-1] == after[:-1]
    assert (before[-1], after[-1]) == ("5", "1")


def test_a_maximum_of_floats(rewrite: Rewrite) -> None:
    text = DICT.replace("jnp.mean(h, axis=0)", "h.max(axis=0)")
    functions = data(
        text, "step(np.ones((3, 2)), graph)", GRAPH, mask(text, "h.max(axis=0)", "pool(w, graph)")
    )
    new = rewrite("pad-arguments", text, functions=functions)
    assert "h.max(axis=0, initial=-jnp.inf, where=None if mask is None else mask[:, None])" in new
    assert printed(text.replace("«", "").replace("»", ""))[:-1] == printed(new)[:-1]


def test_a_gradient_between(rewrite: Rewrite) -> None:
    text = DICT.replace("jax.jit(jax.value_and_grad(loss))", "jax.jit(train)").replace(
        "graphs = [", "def train(w, graph):\n    return jax.value_and_grad(loss)(w, graph)\n\n\ngraphs = ["
    )
    around = ("pool(w, graph)", "jax.value_and_grad(loss)(w, graph)")
    functions = data(text, "step(np.ones((3, 2)), graph)", GRAPH, mask(text, "jnp.mean(h, axis=0)", *around))
    new = rewrite("pad-arguments", text, functions=functions)
    assert "jax.value_and_grad(loss)(w, graph, mask=mask)" in new
    assert printed(text.replace("«", "").replace("»", ""))[:-1] == printed(new)[:-1]


def test_unpacked_arguments_with_a_mask(rewrite: Rewrite) -> None:
    text = PLAIN.replace("jnp.cos(x) @ w)", "jnp.cos(x) @ w) / jnp.mean(x)")
    arrays = [array(1, None), array(2, None, outside=True)]
    functions = data(text, "step(np.ones(3), *batch)", arrays, mask(text, "jnp.mean(x)"))
    new = rewrite("pad-arguments", text, functions=functions)
    assert "def step(w, x, ids, mask=None):" in new
    assert "        real_rows(x, 8),\n    )" in new
    before, after = printed(text.replace("«", "").replace("»", "")), printed(new)
    assert before[:-1] == after[:-1]
    assert (before[-1], after[-1]) == ("5", "1")


@pytest.mark.parametrize(
    ("text", "call", "around", "reason"),
    [
        (DICT.replace("jnp.mean(h, axis=0)", "jnp.median(h, axis=0)"), "jnp.median(h, axis=0)", "pool(w, graph)", "masked"),
        (
            DICT.replace("jnp.mean(h, axis=0)", "jnp.mean(h, axis=0, where=h > 0)"),
            "jnp.mean(h, axis=0, where=h > 0)",
            "pool(w, graph)",
            "masked",
        ),
        (
            DICT.replace("pool(w, graph) **", "jax.checkpoint(pool)(w, graph) **"),
            "jnp.mean(h, axis=0)",
            "jax.checkpoint(pool)(w, graph)",
            "a transformation calls",
        ),
        (DICT.replace("def pool(w, graph)", "def pool(w, *, graph)"), "jnp.mean(h, axis=0)", "pool(w, graph)", "any arg"),
        (DICT.replace("«step(np.ones((3, 2)), graph)»", "«step(np.ones((3, 2)), dict(graph))»"), "jnp.mean(h, axis=0)", "pool(w, graph)", "computed in the call"),
    ],
)  # fmt: skip
def test_what_cannot_be_masked(text: str, call: str, around: str, reason: str, rewrite: Rewrite) -> None:
    step = text.partition("«")[2].partition("»")[0]
    new = rewrite("pad-arguments", text, functions=data(text, step, GRAPH, mask(text, call, around)))
    assert new.startswith("refused: ")
    assert reason in new
