"""Notebooks and Markdown pages through the real command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import jaxlint

SETUP = ["%pip install jax\n", "import jax\n", "import jax.numpy as jnp"]
STEP = ["@jax.jit\n", "def step(x):\n", "    if x > 0:\n", "        return x\n", "    return -x"]
OLD = "%%time\ntree = jax.tree_map(lambda a: a, step(jnp.ones(3)))\n"
PAGE = """# Title

```python
import jax
```

- Then:

  ```python
  tree = jax.tree_map(lambda a: a, [jax.numpy.ones(3)])
  ```

```python
def left_out(x, ...):
```
"""


def cell(source: str | list[str], kind: str = "code") -> dict[str, Any]:
    outputs = {"execution_count": 7, "outputs": [{"text": "\u00e9\u2028"}]} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {"z": 1, "a": 2}, **outputs, "source": source}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    cells = [cell("# Title", "markdown"), cell(SETUP), cell(STEP), cell(OLD), cell(["%%bash\n", "if x\n"])]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1, ensure_ascii=False) + "\n"
    (tmp_path / "book.ipynb").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path


def test_findings_are_named_by_cell_and_line(project: Path) -> None:
    run = jaxlint("check", ".", cwd=project)
    assert run.returncode == 1
    assert "book.ipynb:cell 3:3:8: error JAX101" in run.stdout
    assert "  = reason: the tracer comes from `x`, a parameter of `step` (`jax.jit`, line 1)" in run.stdout
    assert (
        "1 | %%time\n2 | tree = jax.tree_map" in run.stdout
    )  # the frame shows the cell and nothing beyond it
    assert "page.md" not in run.stdout
    found = json.loads(jaxlint("check", ".", "--output-format", "json", cwd=project).stdout)
    assert [(one["code"], one["cell"], one["line"], one["column"]) for one in found] == [
        ("JAX101", 3, 3, 8),
        ("JAX901", 4, 2, 8),
    ]
    assert found[1]["fix"]["edits"] == [
        {
            "path": "book.ipynb",
            "cell": 4,
            "line": 2,
            "column": 8,
            "end_line": 2,
            "end_column": 20,
            "content": "jax.tree.map",
        }
    ]


def test_services_are_told_the_line_of_the_file(project: Path) -> None:
    lines = (project / "book.ipynb").read_text(encoding="utf-8").split("\n")
    number = next(n for n, line in enumerate(lines, start=1) if "if x > 0" in line)
    github = jaxlint("check", "--output-format", "github", ".", cwd=project).stdout
    assert f"file=book.ipynb,line={number},endLine={number}::book.ipynb:cell 3:3:8: JAX101" in github
    sarif = json.loads(jaxlint("check", "--output-format", "sarif", ".", cwd=project).stdout)
    first = sarif["runs"][0]["results"][0]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": number, "endLine": number}
    assert first["message"]["text"].startswith("cell 3:3:8: ")
    junit = jaxlint("check", "--output-format", "junit", ".", cwd=project).stdout
    assert f'line="{number}"' in junit


def test_a_fix_touches_the_lines_of_its_cells_alone(project: Path) -> None:
    before = (project / "book.ipynb").read_bytes()
    diff = jaxlint("fix", "--diff", "--unsafe-fixes", ".", cwd=project)
    assert (project / "book.ipynb").read_bytes() == before
    run = jaxlint("fix", "--unsafe-fixes", ".", cwd=project)
    assert run.returncode == 0, run.stdout + run.stderr
    after = (project / "book.ipynb").read_bytes()
    expected = before.replace(b"jax.tree_map", b"jax.tree.map")
    old = b'    "    if x > 0:\\n",\n    "        return x\\n",\n    "    return -x"\n'
    assert old in expected
    assert after == expected.replace(old, b'    "    return jnp.where(x > 0, x, -x)"\n')
    assert sum(line.startswith("-") for line in diff.stdout.splitlines()) == 1 + 3 + 1
    piped = jaxlint("fix", "--unsafe-fixes", "-", "--stdin-filename", "x.ipynb", cwd=project, stdin=before)
    assert piped.stdout.encode() == after


def test_comments_and_settings_silence(project: Path) -> None:
    text = (project / "book.ipynb").read_text(encoding="utf-8")
    (project / "book.ipynb").write_text(
        text.replace("if x > 0:", "if x > 0:  # jaxlint: ignore[tracer-branch]")
    )
    (project / "pyproject.toml").write_text('[tool.jaxlint.per-file-ignores]\n"*.ipynb" = ["removed-api"]\n')
    for _ in range(2):  # the second time from the cache
        run = jaxlint("check", ".", cwd=project)
        assert (run.returncode, run.stdout) == (0, "No findings in 1 file.\n")


def test_a_broken_notebook_is_one_line(project: Path) -> None:
    (project / "broken.ipynb").write_text("{")
    (project / "bad.ipynb").write_text(json.dumps({"cells": [cell("x = = 1"), cell(OLD)], "nbformat": 4}))
    run = jaxlint("check", "broken.ipynb", "bad.ipynb", "--output-format", "concise", cwd=project)
    assert run.returncode == 2
    assert [line.partition(": not valid")[0] for line in run.stderr.splitlines()] == [
        "error: bad.ipynb: cell 1, line 1",
        "error: broken.ipynb:1",
    ]


def test_markdown_when_named_or_included(project: Path) -> None:
    run = jaxlint("check", "page.md", "--output-format", "concise", cwd=project)
    assert run.stdout.startswith("page.md:10:10: error JAX901 [*] `jax.tree_map`")
    assert jaxlint("fix", "page.md", cwd=project).returncode == 0
    assert (project / "page.md").read_text() == PAGE.replace("tree_map", "tree.map")
    (project / "page.md").write_text(PAGE)
    (project / "jaxlint.toml").write_text('extend-include = ["*.md"]\n')
    assert "page.md:10:10" in jaxlint("check", ".", "--output-format", "concise", cwd=project).stdout


def test_inspect_names_cells(project: Path) -> None:
    assert (
        "book.ipynb:cell 3:1 step: traced, `step` is decorated with `jax.jit` at line 1"
        in jaxlint("inspect", "book.ipynb", cwd=project).stdout
    )
    assert (
        "x: traced, passed at book.ipynb:cell 4:2, book.ipynb:cell 3:2"
        in jaxlint("inspect", "book.ipynb", "--calls", cwd=project).stdout
    )
    found = json.loads(jaxlint("inspect", "book.ipynb", "--output-format", "json", cwd=project).stdout)
    assert [(fact["qualname"], fact["cell"], fact["line"]) for fact in found] == [
        ("step", 3, 1),
        ("<lambda>", 4, 2),
    ]
