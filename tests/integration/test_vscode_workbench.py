"""The extension for VS Code in its workbench, in a headless Chromium: what is marked, why, and a fix."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.editor_session import PROGRAM, project
from tests.integration.test_report_browser import browser

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = ROOT / ".vscode-workbench"
PYTHON = ROOT / ".venv-jupyter" / "bin" / "python"  # drives the browser


@pytest.mark.slow
@pytest.mark.skipif(
    not (WORKBENCH.exists() and PYTHON.exists()),
    reason="VS Code is not installed: `make test-vscode` does it",
)
def test_vscode_marks_a_finding_and_says_why_and_fixes_it(tmp_path: Path) -> None:
    program = project(tmp_path)
    command = [PYTHON, "-m", "tests.helpers.in_vscode", tmp_path, browser(), WORKBENCH, tmp_path / "jaxlint"]
    done = subprocess.run(
        [str(one) for one in command],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    saw = json.loads(done.stdout)
    assert "traced" in saw["lines"]
    assert "value is a tracer in double" in saw["hover"]
    assert "`jax.tree_map` was removed" in saw["message"]
    assert saw["menu"] == [
        "jaxlint: Replace `jax.tree_map` with `jax.tree.map`",
        "jaxlint: ignore removed-api on this line",
        "jaxlint: explain removed-api",
    ]
    assert program.read_text() == PROGRAM.replace("jax.tree_map", "jax.tree.map")
