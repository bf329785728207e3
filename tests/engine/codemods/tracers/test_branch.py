"""`branch-to-select`: what a traced test cannot choose between."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Rewrite = Callable[[str, str], str]

REFUSED = {
    "a variable that is called": (
        "def f(x, kind):\n    if «kind == 0»:\n        law = laws.first\n    else:\n        law = laws.second\n    return law(x)\n",
        "`law` is called",
    ),
    "functions of the file": (
        "def f(x, kind):\n    return double if «kind == 0» else halve\n",
        "the function `double`",
    ),
}


@pytest.mark.parametrize(("code", "reason"), REFUSED.values(), ids=REFUSED)
def test_functions_are_not_chosen(rewrite: Rewrite, code: str, reason: str) -> None:
    helpers = "import laws\n\ndef double(x):\n    return 2 * x\n\ndef halve(x):\n    return x / 2\n\n"
    answer = rewrite("branch-to-select", helpers + code)
    assert answer.startswith("refused: ")
    assert reason in answer


def test_what_functions_give_is_chosen(rewrite: Rewrite) -> None:
    code = "import jax.numpy as jnp\n\ndef f(x, kind):\n    if «kind == 0»:\n        y = x + 1\n    else:\n        y = x - 1\n    return jnp.sin(y)\n"
    assert "y = jnp.where(kind == 0, x + 1, x - 1)" in rewrite("branch-to-select", code)


def test_a_name_that_python_reads_otherwise_is_refused(rewrite: Rewrite) -> None:
    code = "import jax.numpy as jnp\n\ndef f(x):  # 10⁻³ µs\n    return ｘ if «x > 0» else -x\n"
    assert rewrite("branch-to-select", code) == "refused: Python reads `ｘ` as `x`; write `x`"
    assert "jnp.where(x > 0, x, -x)" in rewrite("branch-to-select", code.replace("ｘ", "x"))


JUMPS = {
    "a branch that goes on": (
        "branch-to-select",
        "def f(xs):\n    for x in xs:\n        if «x > 0»:\n            continue\n        g(x)\n",
        "a branch has a `continue`; put what follows the `if` into its `else`",
    ),
    "a branch that ends the loop": (
        "branch-to-select",
        "def f(xs):\n    for x in xs:\n        if «x > 0»:\n            break\n        g(x)\n",
        "a branch leaves the loop by `break`",
    ),
    "a loop with continue": (
        "while-to-while-loop",
        "def f(x):\n    while «x > 0»:\n        if x > 3:\n            continue\n        x = x - 1\n    return x\n",
        "the loop has a `continue`; put what follows it under an `if`",
    ),
    "a while with break": (
        "while-to-while-loop",
        "def f(x):\n    while «x > 0»:\n        if x > 3:\n            break\n        x = x - 1\n    return x\n",
        "the loop has a `break`; move its condition into the test",
    ),
    "a for with break": (
        "range-to-fori-loop",
        "def f(x):\n    for i in «range(9)»:\n        if x > 3:\n            break\n        x = x - 1\n    return x\n",
        "the loop has a `break`; use `lax.while_loop`",
    ),
    "an elif of a kernel": (
        "branch-to-when",
        "def f(x, y):\n    if y:\n        g(y)\n    elif «x > 0»:\n        g(x)\n",
        "belongs to an `elif`",
    ),
    "a branch of a kernel that raises": (
        "branch-to-when",
        "def f(x):\n    if «x > 0»:\n        raise ValueError\n",
        "raises",
    ),
    "a loop that stores": (
        "while-to-while-loop",
        "def f(x, a):\n    while «x > 0»:\n        a.y = x\n        x = x - 1\n    return x\n",
        "the loop stores into an attribute `a.y`, which JAX would do only at trace time",
    ),
    "a slice with a step": (
        "sequence-to-array",
        "def f(x, i):\n    return «x[i : i + 4 : 2]»\n",
        "the slice has a step",
    ),
}


@pytest.mark.parametrize(("codemod", "code", "reason"), JUMPS.values(), ids=JUMPS)
def test_a_refusal_says_what_stands_in_the_way(
    rewrite: Rewrite, codemod: str, code: str, reason: str
) -> None:
    answer = rewrite(codemod, code)
    assert answer.startswith("refused: ")
    assert reason in answer
