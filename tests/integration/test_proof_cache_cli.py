"""A second `jaxlint verify` redoes only what changed, and goes on where an interrupted one was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import verify

PROGRAM = """import jax
import jax.numpy as jnp


@jax.jit
def first(average, sample):
    return average + 0.1 * (sample - average)


@jax.jit
def second(average, sample):
    return average + 0.2 * (sample - average)


def smooth(x):  # runs op by op
    for _ in range(20):
        x = jnp.tanh(x) + 0.1 * jnp.sin(x)
    return x


def main():
    a = b = jnp.zeros((1200, 1200))
    c = jnp.ones((64, 64))
    for step in range(6):
        sample = jnp.ones((1200, 1200)) * step
        a, b = first(a, sample), second(b, sample)
        c = smooth(c)
    print(f"{float(a.mean()):.4f} {float(b.mean()):.4f} {float(c.mean()):.4f}")


if __name__ == "__main__":
    main()
"""
pytestmark = pytest.mark.slow
DONATION = ("--transform", "donation", "--timing", "0.5")
COMPARES = "running the whole program in scratch copies"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(PROGRAM)
    return folder


def run(project: Path, *arguments: str, **environment: str) -> tuple[dict[tuple[str, str], Any], str]:
    """The results by function and candidate, and what was said meanwhile."""
    done = verify(project, "-q", "--output-format", "json", *arguments, "train.py", **environment)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return {
        (one["function"], one["candidate"]): one for one in report["runs"][0]["results"] if one["after"]
    }, done.stderr


def earlier(results: dict[tuple[str, str], Any]) -> set[str]:
    """The functions with results of an earlier run."""
    return {function for (function, _), one in results.items() if one["earlier"]}


def entries(project: Path) -> list[Path]:
    return sorted(Path(f"{project}-cache", "jaxlint", "proofs").glob("*.json"))


def test_only_what_changed_is_proven_again(project: Path) -> None:
    before, _ = run(project, *DONATION)
    assert {function for function, _ in before} == {"first", "second"}
    assert earlier(before) == set()

    again, _ = run(project, *DONATION)
    assert earlier(again) == {"first", "second"}
    assert {key: one["speedup"] for key, one in again.items()} == {
        key: one["speedup"] for key, one in before.items()
    }
    changed = PROGRAM.replace("average + 0.1 *", "average + 0.3 *").replace(
        "\n@jax", "\n# a line more\n@jax", 1
    )
    (project / "train.py").write_text(changed)
    after, _ = run(project, *DONATION)
    assert earlier(after) == {"second"}
    assert after["second", "donation"]["line"] == before["second", "donation"]["line"] + 1


def test_only_what_this_user_proved_counts(project: Path, tmp_path: Path) -> None:
    """A project may bring a cache along, and one may have been copied over that of the user."""
    theirs = {"XDG_STATE_HOME": str(tmp_path / "theirs"), "XDG_CACHE_HOME": str(tmp_path / "their-cache")}
    run(project, *DONATION, **theirs)
    own = Path(f"{project}-cache", "jaxlint")
    for place in (project / ".cache" / "jaxlint", project / ".jaxlint_cache", project / "proofs", own):
        shutil.copytree(tmp_path / "their-cache" / "jaxlint", place, dirs_exist_ok=True)
    shutil.copytree(tmp_path / "theirs" / "jaxlint", project / ".local" / "state" / "jaxlint")
    assert entries(project)
    found, _ = run(project, *DONATION)
    assert {function for function, _ in found} == {"first", "second"}
    assert earlier(found) == set()
    for entry in entries(project):
        data = entry.read_bytes()
        entry.write_bytes(data.replace(b"donat", b"Donat") if b"donat" in data else data[: len(data) // 2])
    damaged, _ = run(project, *DONATION)
    assert {function for function, _ in damaged} == {"first", "second"}
    assert earlier(damaged) == set()


def test_edits_of_the_source_are_not_run_again(project: Path) -> None:
    before, said = run(project, "--transform", "source")
    assert COMPARES in said
    assert any(candidate.startswith("source") for _, candidate in before)
    again, said = run(project, "--transform", "source")
    assert COMPARES not in said
    assert again.keys() == before.keys()
    assert all(one["earlier"] for one in again.values())
    (project / "data.txt").write_text("a file that the program may read\n")
    _, said = run(project, "--transform", "source")
    assert COMPARES in said


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_goes_on(project: Path) -> None:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": f"{project}-cache"}
    command = [sys.executable, "-m", "jaxlint", "verify", "-q", *DONATION, "train.py"]
    process = subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < until:
        if any(b"donation on the original" in entry.read_bytes() for entry in entries(project)):
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.05)
    assert process.wait(timeout=120) == 130  # interrupted, with one of two functions proven
    found, _ = run(project, *DONATION)
    assert len(earlier(found)) == 1
    assert {function for function, _ in found} == {"first", "second"}
