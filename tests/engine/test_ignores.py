"""The comments that silence findings, where they stand and what they leave as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Finding, Severity, Span
from jaxlint.ignores import with_ignores
from jaxlint.source import source_from_bytes


def ignored(text: str, *places: tuple[int, str], name: str = "a.py") -> tuple[str, int]:
    """The text with the findings at these lines silenced, and how many could not be."""
    source = source_from_bytes(text.encode(), Path(name), name)
    findings = [
        Finding(name, Span(line, 1, line, 2), code, "rule", "tracing", Severity.ERROR, "", "")
        for line, code in places
    ]
    result = with_ignores(source, findings)
    assert len(result.silenced) + len(result.left) == len(findings)
    again = with_ignores(result.source, result.silenced)
    assert again.source.text == result.source.text, "idempotent"
    return result.source.file_text, len(result.left)


@pytest.mark.parametrize(
    ("text", "places", "expected"),
    [
        pytest.param(
            "x = 1\ny = 2\n", [(1, "JAX101")], "x = 1  # jaxlint: ignore[JAX101]\ny = 2\n", id="plain"
        ),
        pytest.param(
            "x = 1\n",
            [(1, "JAX1001"), (1, "JAX301"), (1, "JAX301")],
            "x = 1  # jaxlint: ignore[JAX301, JAX1001]\n",
            id="several-in-order",
        ),
        pytest.param(
            "x = 1  # why  \n",
            [(1, "JAX101")],
            "x = 1  # why  # jaxlint: ignore[JAX101]\n",
            id="behind-a-comment",
        ),
        pytest.param(
            "x = 1  # noqa: E501\r\ny\r\n",
            [(1, "JAX101")],
            "x = 1  # noqa: E501  # jaxlint: ignore[JAX101]\r\ny\r\n",
            id="line-ends-stay",
        ),
        pytest.param(
            "x = 1  # jaxlint:ignore[key-reuse] why\n",
            [(1, "JAX101")],
            "x = 1  # jaxlint:ignore[key-reuse, JAX101] why\n",
            id="one-of-ours",
        ),
        pytest.param(
            "x = f('''\na\n''')\n",
            [(1, "JAX101"), (2, "JAX301")],
            "x = f('''\na\n''')  # jaxlint: ignore[JAX101, JAX301]\n",
            id="in-a-string",
        ),
        pytest.param(
            "x = 1 + \\\n    y\n",
            [(1, "JAX101")],
            "x = 1 + \\\n    y  # jaxlint: ignore[JAX101]\n",
            id="continued",
        ),
        pytest.param(
            "f(\n    x,\n)\n", [(2, "JAX101")], "f(\n    x,  # jaxlint: ignore[JAX101]\n)\n", id="in-brackets"
        ),
        pytest.param("if x: y", [(1, "JAX101")], "if x: y  # jaxlint: ignore[JAX101]", id="no-line-end"),
        pytest.param(
            "s = '#\\\\'\n", [(1, "JAX101")], "s = '#\\\\'  # jaxlint: ignore[JAX101]\n", id="no-comment"
        ),
    ],
)
def test_where_it_stands(text: str, places: list[tuple[int, str]], expected: str) -> None:
    assert ignored(text, *places) == (expected, 0)


def test_in_a_page_and_in_a_session() -> None:
    page = "# Title\n\n- item\n\n  ```python\n  x = 1\n  ```\n\n```pycon\n>>> y = 2\n```\n"
    text, left = ignored(page, (6, "JAX101"), (10, "JAX101"), name="a.md")
    assert left == 0
    assert text == page.replace("x = 1", "x = 1  # jaxlint: ignore[JAX101]").replace(
        "y = 2", "y = 2  # jaxlint: ignore[JAX101]"
    )


def test_a_line_that_is_no_python_stays() -> None:
    exported = "!pip install jax\nx = 1\n"
    assert ignored(exported, (1, "JAX101"), (2, "JAX101")) == (
        "!pip install jax\nx = 1  # jaxlint: ignore[JAX101]\n",
        1,
    )
