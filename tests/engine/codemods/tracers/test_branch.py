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
