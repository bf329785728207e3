"""A region as text."""

from __future__ import annotations

from jaxlint.codemods.compilation.region_text import Written
from jaxlint.finding import Span


def test_line_ends_of_several_kinds_stay() -> None:
    text = "import jax\nx = 1\r\ny = (\r2)  # two\rz = 3\n"
    written = Written(
        [], "", ["def f():", "    return 2"], [""], 2, Span(3, 1, 4, 3), "y = f()", newline="\r\n"
    )
    assert written.whole(text, "@jax.jit") == (
        "import jax\n@jax.jit\r\ndef f():\r\n    return 2\r\n\r\nx = 1\r\ny = f()  # two\rz = 3\n"
    )
