"""Notebooks: cells as one module, places by cell, and JSON that keeps its bytes."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from jaxlint.codemods.source.text_edits import Lines, apply_edits
from jaxlint.finding import Edit, Span
from jaxlint.places import shown_line
from jaxlint.source import SourceError, SourceFile, source_from_bytes
from jaxlint.source.magics import is_python_cell, without_magics

PATH = Path("/somewhere/a.ipynb")


def cell(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        **more,
        "source": source,
    }


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def read(content: object, **style: Any) -> SourceFile:
    text = content if isinstance(content, str) else json.dumps(content, **{"indent": 1, **style})
    return source_from_bytes(text.encode(), PATH, "a.ipynb")


def edited(source: SourceFile, *edits: tuple[int, int, int, int, str]) -> str:
    assert source.container is not None
    made = [Edit("a.ipynb", Span(a, b, c, d), content) for a, b, c, d, content in edits]
    return source.container.edited(made).file_text


TWO = notebook(
    cell(["import jax\n", "x = 1"]), {"cell_type": "markdown", "source": "# y"}, cell("z = x\nw = z\n")
)


def test_cells_are_one_module() -> None:
    source = read(TWO)
    assert source.text == "import jax\nx = 1\n\nz = x\nw = z\n\n\n"
    assert source.container is not None
    place = source.container.place(Span(4, 5, 5, 2))
    assert (place.cell, place.span) == (3, Span(1, 5, 2, 2))
    assert json.dumps(TWO, indent=1).splitlines()[place.file_line - 1].strip().startswith('"source": "z')
    first = source.container.place(Span(2, 1, 2, 2))
    assert (first.cell, first.span) == (1, Span(2, 1, 2, 2))
    assert '"x = 1"' in json.dumps(TWO, indent=1).splitlines()[first.file_line - 1]


@pytest.mark.parametrize(
    "style",
    [
        {"indent": 1},
        {"indent": 4},
        {"indent": None},
        {"indent": "\t"},
        {"indent": None, "separators": (",", ":")},
        {"indent": 2, "sort_keys": True},
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_edit_touches_its_line_alone(style: dict[str, Any], ascii_only: bool) -> None:
    output = [{"data": {"text/plain": "é \u2028 1e400 \U0001f600"}, "n": 1.50}]
    content = notebook(
        cell(["# caf\u00e9\n", "a = 1\n", "b = 2"], outputs=output), cell("c = 3\nd = '\u00e9'")
    )
    text = json.dumps(content, ensure_ascii=ascii_only, **style).replace("1.5", "1.50") + "\n"
    source = read(text)
    assert source.file_text == text
    changed = edited(source, (2, 5, 2, 6, "10"), (5, 5, 5, 6, "30"))
    assert changed == text.replace("a = 1", "a = 10").replace("c = 3", "c = 30")
    added = json.loads(edited(source, (3, 1, 3, 1, "n = '\u00e9'\n")))
    assert added["cells"][0]["source"] == ["# caf\u00e9\n", "a = 1\n", "n = '\u00e9'\n", "b = 2"]
    assert added["cells"][1] == content["cells"][1]


def test_lines_come_and_go_in_lists() -> None:
    text = json.dumps(TWO, indent=1)
    source = read(text)
    item = '    "x = 1"'
    assert f",\n{item}\n" in text
    assert edited(source, (3, 1, 3, 1, "y = 2\n")) == text.replace(item, '    "x = 1\\n",\n    "y = 2"')
    assert edited(source, (2, 1, 3, 1, "")) == text.replace(f'\\n",\n{item}', '"')
    assert json.loads(edited(source, (1, 1, 3, 1, "")))["cells"][0]["source"] == []


def test_escapes_of_other_lines_stay() -> None:
    text = json.dumps(notebook(cell("MARK"))).replace(
        "MARK", r"a = '\u00e9\/\t'\u000ab = 1\r\nc = '\ud83d\ude00'"
    )
    source = read(text)
    assert source.text.splitlines()[:3] == ["a = 'é/\t'", "b = 1", "c = '\U0001f600'"]
    changed = edited(source, (2, 5, 2, 6, "2"))
    assert r"'\u00e9\/\t'" in changed
    assert r"'\ud83d\ude00'" in changed
    assert json.loads(changed)["cells"][0]["source"].splitlines()[1] == "b = 2"


def test_lines_that_are_split_over_strings() -> None:
    source = read(notebook(cell(["a = ", "1\nb", " = 2\n", ""])))
    assert source.text == "a = 1\nb = 2\n\n\n"
    assert json.loads(edited(source, (2, 5, 2, 6, "3")))["cells"][0]["source"] == ["a = 1\n", "b = 3\n"]


def test_lines_in_a_text_are_those_of_their_cells() -> None:
    source = read(notebook(cell("a = 1\nb = 2"), cell("c = 3\nd = 4\ne = 5")))
    assert source.container is not None
    first, *others = (n for n, line in enumerate(source.text.splitlines(), 1) if line[:1] in "bce" and line)
    said = f"as at line {first}; the same at lines {others[0]}, {others[1]}"
    assert shown_line("a.ipynb", first, said, {"a.ipynb": source}) == (
        1,
        2,
        "as at line 2; the same at line 1 of cell 2, line 3 of cell 2",
    )


def test_no_edit_spans_two_cells() -> None:
    source = read(TWO)
    with pytest.raises(ValueError, match="two parts"):
        edited(source, (2, 1, 4, 3, "q"))
    # Blank lines between cells are nobody's: an edit that takes them along is cut off there.
    assert json.loads(edited(source, (2, 1, 4, 1, "")))["cells"][0]["source"] == ["import jax"]
    assert json.loads(edited(source, (3, 1, 5, 1, "")))["cells"][2]["source"] == "w = z\n"


def test_an_edit_does_not_join_cells() -> None:
    source = read(TWO)
    with pytest.raises(ValueError, match="two parts"):
        edited(source, (2, 5, 4, 1, "q"))
    with pytest.raises(ValueError, match="two parts"):
        edited(source, (2, 5, 4, 1, ""))


def test_magics_are_no_python() -> None:
    lines = [
        "%matplotlib inline",
        "!pip install \\",
        "  jax",
        "files = !ls",
        "out = %sql select 1",
        "if x:",
        "    %timeit f()",
        "y = (a",
        "     % b)",
        "s = '''",
        "%not a magic",
        "!nor this'''",
        "x?",
        "?jax.jit",
        "z = a \\",
        "  % b",
        "w = 'why?'",
    ]
    assert without_magics(lines) == [
        "",
        "",
        "",
        "files = get_ipython()",
        "out = get_ipython()",
        "if x:",
        "    pass",
        "y = (a",
        "     % b)",
        "s = '''",
        "%not a magic",
        "!nor this'''",
        "",
        "",
        "z = a \\",
        "  % b",
        "w = 'why?'",
    ]


@pytest.mark.parametrize("magic", ["%%time", "%%timeit -n 10", "%%capture out", "%time x", "x = 1", ""])
def test_cells_that_run_as_python(magic: str) -> None:
    assert is_python_cell(["", magic, "y = 1"])


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile a.py", "%%javascript", "%%R", "%%"])
def test_cells_that_do_not(magic: str) -> None:
    assert not is_python_cell([magic, "y = 1"])


def test_an_edit_leaves_magics_alone() -> None:
    source = read(notebook(cell(["%%time\n", "!ls\n", "a = 1"])))
    assert json.loads(edited(source, (3, 1, 3, 1, "import x\n")))["cells"][0]["source"] == [
        "%%time\n",
        "!ls\n",
        "import x\n",
        "a = 1",
    ]
    with pytest.raises(ValueError, match="not Python"):
        edited(source, (1, 1, 3, 1, ""))


def test_what_is_not_python_is_skipped() -> None:
    bash, marked = cell(["%%bash\n", "if"]), cell("if", metadata={"vscode": {"languageId": "r"}})
    failing = cell("1 / 0", metadata={"tags": ["raises-exception"]})
    source = read(notebook(bash, marked, failing, {"cell_type": "raw", "source": "if"}, cell("x = 1")))
    assert source.text == "x = 1\n\n"
    assert source.problems == ()
    assert read(notebook(cell("x <- 1"), kernelspec={"language": "R"})).text == ""
    assert read(notebook(cell("x = 1"), language_info={"name": "python"})).text == "x = 1\n\n"


def test_a_broken_cell_costs_itself_alone() -> None:
    source = read(notebook(cell("x = 1"), cell("y = 2\nz = = 3"), cell("w = x")))
    assert source.text == "x = 1\n\nw = x\n\n"
    assert [str(one) for one in source.problems] == [
        f"a.ipynb: cell 2, line 2: {source.problems[0].message.partition(': ')[2]}"
    ]
    assert "not valid Python" in str(source.problems[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "cannot be read"),
        ('{"cells": ' + "1" * 5000 + "}", "cannot be read"),
        ("[]", "not an object"),
        ("{}", "no list of cells"),
        ('{"cells": {}}', "no list of cells"),
        ('{"cells": [1]}', "no list of cells"),
        ('{"worksheets": [], "nbformat": 3}', "old format"),
        ('{"cells": [], "nbformat": 3}', "old format"),
        ('{"cells": [{"cell_type": "code", "source": 1}]}', "not text"),
        ('{"cells": [{"cell_type": "code", "source": ["a", 1]}]}', "not text"),
    ],
)
def test_hostile_json_is_one_line(text: str, words: str) -> None:
    with pytest.raises(SourceError, match=words) as raised:
        read(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": []}',
        '{"cells": [{"cell_type": "code"}, {}]}',
        '{"cells": [{"cell_type": "code", "source": []}], "metadata": null}',
        '{"cells": [{"cell_type": "code", "source": "", "metadata": [1]}], "metadata": {"kernelspec": 1}}',
        '{"cells": 1, "cells": [{"source": "if", "cell_type": "code", "source": "x = 1"}]}',
        '{"cells": [{"cell_type": "code", "source": "\\ud800"}]}',
    ],
)
def test_odd_notebooks_are_read(text: str) -> None:
    source = read(text)
    assert source.file_text == text
    compile(source.text, "a.ipynb", "exec")


def test_random_edits_keep_everything_else() -> None:
    """An edit makes the module what it makes of plain text, and nothing but sources changes; or it is refused."""
    choose = random.Random(4)
    made = 0
    for _ in range(400):
        lines = ["x = 1", "y = '\u00e9'", "# c", "", "%time f()", "!ls", "w = '\U0001f600'"]
        sources: list[str | list[str]] = []
        for _ in range(choose.randint(1, 4)):
            chosen = choose.choices(lines, k=choose.randint(1, 5))
            sources.append(choose.choice(["\n".join(chosen), [f"{line}\n" for line in chosen]]))
        content = notebook(*map(cell, sources))
        source = read(content, indent=choose.choice([None, 1, "\t"]), ensure_ascii=choose.random() < 0.5)
        places = Lines(source.text)
        start = choose.randint(0, len(source.text))
        span = places.span(start, min(len(source.text), start + choose.choice([0, 0, 1, 3, 8])))
        edit = Edit("a.ipynb", span, choose.choice(["", "q", "n = 1\n", "\nm = 2", "k\nl", "\u00e9"]))
        assert source.container is not None
        try:
            after = source.container.edited([edit])
        except ValueError:
            continue
        made += 1
        # Blank lines between cells apart.
        assert re.sub(r"\n+", "\n", after.code).strip("\n") == re.sub(
            r"\n+", "\n", apply_edits(source.text, [edit])
        ).strip("\n")
        changed = json.loads(after.file_text)
        for before, now in zip(content["cells"], changed["cells"], strict=True):
            assert now | {"source": ""} == before | {"source": ""}
    assert made > 100


@pytest.mark.parametrize("line", ["\\", "'''", "\\'''", '"\\', "x = 1"])
def test_lines_without_end_are_read_in_one_pass(line: str) -> None:
    """Backslashes and quotes by which each line might go on: a clone may hold as many as it likes."""
    started = time.process_time()
    assert len(without_magics(["x = '''", *[line] * 50_000])) == 50_001
    assert len(without_magics([line] * 50_000)) == 50_000
    assert time.process_time() - started < 20  # minutes, where each line looks at those before it


def test_a_source_of_many_strings_is_placed_in_one_pass() -> None:
    started = time.process_time()
    source = read(notebook(cell(["# a\n"] * 200_000)))
    assert source.text.count("\n") >= 200_000
    assert time.process_time() - started < 40  # minutes, where each counts the lines before it
