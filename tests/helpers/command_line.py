"""The command line as a user runs it: a process of its own, whose output is UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def jaxlint(
    *arguments: str, cwd: Path, stdin: str | bytes = b"", timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `jaxlint` with these arguments; variables that decide on colours are not taken from who runs the tests."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", *arguments],
        cwd=cwd,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
        env={**inherited, **environment},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )


def verify(
    folder: Path, *arguments: str, timeout: float = 600, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `jaxlint verify` in a folder, on the CPU; proofs are kept for runs in the same folder."""
    own = {"JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": f"{folder}-cache"}
    return jaxlint("verify", *arguments, cwd=folder, timeout=timeout, **{**own, **environment})
