"""`tuple-static-argument`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

REWRITES = {
    "list": ("f(x, «[1, 2]»)\n", "f(x, (1, 2))\n"),
    "keyword": ("f(x, axes=«[1, 2]»)\n", "f(x, axes=(1, 2))\n"),
    "one element": ("f(x, «[1]»)\n", "f(x, (1,))\n"),
    "one element with a comma": ("f(x, «[1,]»)\n", "f(x, (1,))\n"),
    "empty": ("f(x, «[]»)\n", "f(x, ())\n"),
    "nested": ("f(x, «[1, [2, [3]], (4, [5])]»)\n", "f(x, (1, (2, (3,)), (4, (5,))))\n"),
    "lists in a tuple": ("f(x, «(1, [2, 3])»)\n", "f(x, (1, (2, 3)))\n"),
    "set": ("f(x, «{1, 2}»)\n", "f(x, frozenset({1, 2}))\n"),
    "set in a list": ("f(x, «[{1}, 2]»)\n", "f(x, (frozenset({1}), 2))\n"),
    "unpacked": ("f(x, «[*xs]»)\n", "f(x, (*xs,))\n"),
    "comprehension": ("f(x, «[i for i in xs if i]»)\n", "f(x, tuple(i for i in xs if i))\n"),
    "comprehension of lists": ("f(x, «[[i, 1] for i in xs]»)\n", "f(x, tuple((i, 1) for i in xs))\n"),
    "in an indented block": (
        "class A:\n    def g(self):\n        f(\n            «[\n                1,\n                # two\n            ]»,\n        )\n",
        "class A:\n    def g(self):\n        f(\n            (\n                1,\n                # two\n            ),\n        )\n",
    ),
    "layout and comments": (
        "f(\n    x,\n    «[  # sizes\n        1,  # in\n        2,  # out\n    ]»,\n)\n",
        "f(\n    x,\n    (  # sizes\n        1,  # in\n        2,  # out\n    ),\n)\n",
    ),
}
REFUSALS = {
    "dict": ("f(x, «{'a': 1}»)\n", "dict"),
    "dict in a list": ("f(x, «[{'a': 1}]»)\n", "dict"),
    "dict comprehension": ("f(x, «{i: 1 for i in xs}»)\n", "dict"),
    "in a call that makes it hashable": ("f(x, frozenset(«{1, 2}»))\n", "already"),
    "a tuple already": ("f(x, «(1, 2)»)\n", "nothing to change"),
    "a name": ("f(x, «y»)\n", "there is no List"),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite, before, after):
    assert rewrite("tuple-static-argument", before) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_leaves_alone(rewrite, before, reason):
    answer = rewrite("tuple-static-argument", before)
    assert answer.startswith("refused: ")
    assert reason in answer


@pytest.mark.parametrize("argument", ["[0, 1]", "[[0], [1]]", "{0, 1}", "[i for i in range(2)]"])
def test_the_call_works_afterwards(rewrite, argument):
    function = jax.jit(lambda x, axes: x + len(axes), static_argnums=1)
    program = f"y = f(x, «{argument}»)\n"
    with pytest.raises(ValueError, match="hashable"):
        exec(program.replace("«", "").replace("»", ""), {"f": function, "x": jnp.ones(2)})
    names = {"f": function, "x": jnp.ones(2)}
    exec(rewrite("tuple-static-argument", program), names)
    assert names["y"].tolist() == [3.0, 3.0]
