"""`%load_ext jaxlint` in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.testing.globalipapp import start_ipython
from IPython.utils.capture import capture_output


@pytest.fixture(scope="module")
def started() -> Any:
    shell: Any = start_ipython() or InteractiveShell.instance()
    shell.display_formatter.active_types = shell.display_formatter.format_types  # as in Jupyter
    return shell


@pytest.fixture
def shell(started: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    started.reset()
    started.run_line_magic("load_ext", "jaxlint")
    yield started
    if hasattr(started, "jaxlint"):
        started.run_line_magic("unload_ext", "jaxlint")


def shown(shell: Any, cell: str) -> tuple[str, str]:
    """What running a cell shows, as text and as HTML."""
    with capture_output() as captured:
        shell.run_cell(cell, store_history=True)
    html = "".join(one.data.get("text/html", "") for one in captured.outputs)
    text = "".join(one.data.get("text/plain", "") for one in captured.outputs)
    return captured.stdout + text, html


STEP = "def step(x):\n    return x if x > 0 else -x\n"


def test_a_cell_is_checked_with_those_before_it(shell: Any) -> None:
    assert shown(shell, "import jax") == ("", "")
    number = shell.execution_count
    assert shown(shell, STEP) == ("", "")
    assert "ZeroDivisionError" in shown(shell, "1 / 0")[0]  # a cell that does not count
    text, html = shown(shell, "%time\nfast = jax.jit(step)")
    assert f"In [{number}] line 2: error JAX101 `a if test else b`" in text
    assert "[tracer-branch]" in text
    assert f"(`jax.jit`, line 2 of In [{number + 2}])" in text
    assert "<code>return x if x &gt; 0 else -x</code>" in html
    assert "href=" in html
    assert "jaxlint" not in shown(shell, "step(1)")[0]  # it has been said


def test_commands_and_the_end(shell: Any) -> None:
    assert "no findings" in shown(shell, "%jaxlint")[0]
    removed = "import jax\ndouble = lambda tree: jax.tree_map(None, tree)"
    assert "JAX901" in shown(shell, removed)[0]
    assert "JAX901" in shown(shell, "%jaxlint")[0]
    assert "usage" in shown(shell, "%jaxlint --verbose")[0]
    assert "nonsense" in shown(shell, "%jaxlint --ignore nonsense")[0]
    assert shown(shell, "%jaxlint --ignore JAX901") == ("", "")
    assert shown(shell, removed) == ("", "")
    shown(shell, "%jaxlint --ignore JAX101")
    shown(shell, "%jaxlint off")
    assert shown(shell, removed + "\n") == ("", "")
    shown(shell, "%jaxlint on")
    assert "JAX901" in shown(shell, removed + "\n\n")[0]
    # what is no Python is for Python to say, and is no part of the program
    assert "SyntaxError" in shown(shell, "x = (")[0]
    assert "JAX901" in shown(shell, removed + "\n\n\n")[0]
    shell.run_line_magic("unload_ext", "jaxlint")
    assert shown(shell, removed) == ("", "")


def test_a_mistake_in_the_settings_is_said_once_and_the_cell_runs(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "jaxlint.toml").write_text("selec = []\n")
    text, _ = shown(shell, "1 + 1")
    assert "selec" in text
    assert "2" in text
    assert "jaxlint" not in shown(shell, "1 + 2")[0]
