"""What a user does in an editor: looks at a finding, asks why a value is a tracer, makes the fix and saves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/editor.md"
PROGRAM = """import jax


@jax.jit
def double(value):
    return jax.tree_map(lambda leaf: 2 * leaf, value)
"""


def project(folder: Path) -> Path:
    """A project with PROGRAM, in which `jaxlint` is this one. Returns the program's path."""
    (folder / "pyproject.toml").touch()
    (folder / "jaxlint").write_text(f'#!/bin/sh\nexec {sys.executable} -P -m jaxlint "$@"\n')
    (folder / "jaxlint").chmod(0o755)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return program


def run(command: Sequence[str | Path], folder: Path, out: Path) -> None:
    """Runs an editor in a project, and checks what its session wrote to `out` as JSON: `said`, `hover`, `action`."""
    done = subprocess.run(
        [str(one) for one in command],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert out.exists(), done.stderr
    found = json.loads(out.read_text())
    assert "`jax.tree_map` was removed" in found["said"]
    assert "`value` is **a tracer** in `double`" in found["hover"]
    assert found["action"] == "jaxlint: Replace `jax.tree_map` with `jax.tree.map`"
    assert (folder / "program.py").read_text() == PROGRAM.replace("jax.tree_map", "jax.tree.map")
    assert done.returncode == 0, done.stderr
