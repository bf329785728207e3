"""`jaxlint server` in JupyterLab with its LSP extension, in a headless Chromium: what is marked, why, and that it goes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.integration.test_report_browser import browser

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-jupyter" / "bin" / "python"  # `make test-editors` makes it
CELLS = (
    "import jax\nimport jax.numpy as jnp",
    "@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return jax.tree_map(jnp.sin, x)",
)


def notebook() -> str:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {
            "cells": [{**cell, "id": f"c{n}", "source": text} for n, text in enumerate(CELLS)],
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def settings() -> str:
    """Those of the documentation, as they stand."""
    page = (ROOT / "docs/editor.md").read_text(encoding="utf-8")
    found = re.search(r"## JupyterLab\n.*?```json\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON.exists(), reason="JupyterLab is not installed: `make test-editors` does it")
def test_jupyterlab_marks_a_finding_and_says_why_and_takes_it_away(tmp_path: Path) -> None:
    config = tmp_path / "config" / "jupyter_server_config.d"
    config.mkdir(parents=True)
    (config / "jaxlint.json").write_text(settings())
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.ipynb").write_text(notebook())
    command = [str(PYTHON), "-m", "tests.helpers.in_jupyterlab", str(tmp_path), browser()]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False, env=environment
    )
    log = tmp_path / "lab.log"
    assert done.returncode == 0, done.stderr[-3000:] + (log.read_text()[-3000:] if log.exists() else "")
    saw = json.loads(done.stdout)
    assert saw["marked"] == ["x > 0", "jax.tree_map"]
    assert "TracerBoolConversionError" in saw["tooltip"]
    assert "the tracer comes from `x`, a parameter of `step`" in saw["tooltip"]
    assert "step is traced" in saw["hover"]
    assert "decorated with jax.jit" in saw["hover"]
    assert saw["left"] == ["x > 0"]
