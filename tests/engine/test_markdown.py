"""Markdown pages: blocks of Python on their own lines, and text that keeps its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Edit, Span
from jaxlint.source import SourceFile, source_from_bytes

PATH = Path("/somewhere/page.md")


def read(text: str) -> SourceFile:
    source = source_from_bytes(text.encode(), PATH, "page.md")
    assert source.file_text == text
    return source


def edited(source: SourceFile, *edits: tuple[int, int, int, int, str]) -> str:
    assert source.container is not None
    made = [Edit("page.md", Span(a, b, c, d), content) for a, b, c, d, content in edits]
    return source.container.edited(made).file_text


def code(text: str) -> list[str]:
    """The lines of the module that are not blank."""
    return [line for line in read(text).text.split("\n") if line.strip()]


PAGE = """# Title

```python
x = 1
y = x
```

1. A list:

   ~~~py title="a.py"
   def f(x):
       return x

   z = f(y)
   ~~~
"""


def test_lines_are_those_of_the_page() -> None:
    source = read(PAGE)
    assert source.text.split("\n")[3:5] == ["x = 1", "y = x"]
    assert source.text.split("\n")[10:14] == ["def f(x):", "    return x", "", "z = f(y)"]
    assert source.container is not None
    place = source.container.place(Span(14, 5, 14, 9))
    assert (place.cell, place.span) == (None, Span(14, 8, 14, 12))


def test_edits_keep_the_indentation_of_the_fence() -> None:
    source = read(PAGE)
    assert edited(source, (14, 5, 14, 6, "g")) == PAGE.replace("z = f(y)", "z = g(y)")
    assert edited(source, (12, 1, 12, 1, "    y = x\n")) == PAGE.replace(
        "       return x\n", "       y = x\n       return x\n"
    )
    assert edited(source, (13, 1, 13, 1, "\na = 1\n")) == PAGE.replace(
        "return x\n\n", "return x\n\n   a = 1\n\n"
    )
    assert edited(source, (15, 1, 15, 1, "w = z\n")) == PAGE.replace("z = f(y)\n", "z = f(y)\n   w = z\n")
    assert edited(source, (4, 1, 5, 1, ""), (11, 1, 13, 1, "")) == PAGE.replace("x = 1\n", "").replace(
        "   def f(x):\n       return x\n", ""
    )


def test_edits_stay_in_their_block() -> None:
    source = read(PAGE)
    with pytest.raises(ValueError, match="two parts"):
        edited(source, (5, 1, 11, 3, "q"))
    with pytest.raises(ValueError, match="outside"):
        edited(source, (1, 1, 1, 1, "import jax\n"))


def test_windows_line_ends_stay() -> None:
    text = PAGE.replace("\n", "\r\n")
    source = read(text)
    changed = edited(source, (5, 1, 5, 1, "w = 2\n"))
    assert changed == text.replace("y = x", "w = 2\r\ny = x")


@pytest.mark.parametrize(
    "fence",
    [
        "```python",
        "``` py",
        "```python3",
        "```Python",
        "````python",
        "~~~ python",
        "```{python}",
        "```{.python .numberLines}",
        "```{code-cell} ipython3",
        "```{code-block} python",
        '```python title="a.py" hl_lines="1"',
        "```python,ignore",
        "- ```python",
        "  1. ```python",
    ],
)
def test_fences_of_python(fence: str) -> None:
    indent = " " * (len(fence) - len(fence.lstrip(" -1.")))
    close = "~~~" if "~" in fence else "````"
    assert code(f"text\n{fence}\n{indent}x = 1\n{indent}{close}\ny = 2\n") == ["x = 1"]


@pytest.mark.parametrize(
    "fence", ["```", "```bash", "```text", "```pythonic", "``python", "```python`", "```{note}"]
)
def test_other_fences(fence: str) -> None:
    assert code(f"text\n{fence}\nx = 1\n```\n") == []


def test_blocks_that_do_not_parse_hurt_nobody() -> None:
    text = "```python\ndef f(x, ...):\n```\n```python\nx = 1\n```\n```python\n- a\n+ b = 1\n```\n```python\ny = ...\n```\n"
    assert code(text) == ["x = 1", "y = ..."]
    assert read(text).problems == ()


def test_an_unclosed_block_and_a_shorter_fence() -> None:
    assert code("~~~python\nx = '''\n```\n'''\n") == ["x = '''", "```", "'''"]


def test_interactive_sessions() -> None:
    text = "```python\n>>> x = 1\n>>> for i in y:\n...     f(i)\n...\n7\n>>> x\n1\n```\n"
    source = read(text)
    assert source.text.split("\n")[1:8] == ["x = 1", "for i in y:", "    f(i)", "", "", "x", ""]
    assert edited(source, (4, 5, 4, 6, "g")) == text.replace("f(i)", "g(i)")
    with pytest.raises(ValueError, match="interactive"):
        edited(source, (2, 1, 2, 1, "w = 1\n"))


def test_cells_of_myst_pages() -> None:
    assert code("```{code-cell} ipython3\n:tags: [hide-input]\n\n%%time\nx = 1\n```\n") == ["x = 1"]
    assert code("```{code-cell}\n:tags: [raises-exception]\n\nx = 1\n```\n") == []


def test_customary_names_need_no_import() -> None:
    assert code("A\n```python\ny = jnp.sin(np.pi)\n```\n")[0] == "import jax.numpy as jnp; import numpy as np"
    assert code("A\n```python\nimport numpy as jnp\ny = jnp.sin(2)\n```\n")[0] == "import numpy as jnp"
    text = "A\n```python\ny = jnp.sin(2)\n```\n"
    source = read(text)
    # An import beside those that are taken for granted goes into the first block.
    assert edited(source, (1, 1, 1, 1, "import jax\n")) == text.replace("y =", "import jax\ny =")


@pytest.mark.parametrize(
    "text", ["", "\n", "no code", "```python\n```\n", "```python", "```python\n", "\r", "~~~py\r\rx=1"]
)
def test_odd_pages_are_read(text: str) -> None:
    read(text)
