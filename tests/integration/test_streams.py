"""Standard streams that are closed or full: an exit code, at most a line, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")

CASES = {
    "check --no-cache a.py >&-": (1, ""),
    "check --no-cache a.py nothing.py 2>&-": (2, ""),
    "check --no-cache - <&-": (0, ""),
    "fix --diff a.py >&- 2>&- <&-": (1, ""),
    "rules >&-": (0, ""),
    "--help >/dev/full": (2, "No space left on device"),
    "--version >/dev/full": (2, "No space left on device"),
    "check --help >/dev/full": (2, "No space left on device"),
    "check --no-cache a.py >/dev/full": (2, "No space left on device"),
    "check --no-cache nothing.py 2>/dev/full": (2, ""),
    "nothing 2>/dev/full": (2, ""),
    "--help >/dev/full 2>&1": (2, ""),
}


@pytest.mark.parametrize("command", CASES)
def test_a_stream_that_is_closed_or_full_is_no_crash(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\nprint(jax.tree_map)\n")
    code, said = CASES[command]
    done = subprocess.run(
        ["sh", "-c", f'"$0" -P -m jaxlint {command}', sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 1
    assert {path.name for path in tmp_path.iterdir()} <= {"a.py", ".jaxlint_cache"}
    assert (tmp_path / "a.py").read_text() == "import jax\nprint(jax.tree_map)\n"
