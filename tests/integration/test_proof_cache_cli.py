"""A second `jaxlint verify` redoes only what changed, and goes on where an interrupted one was."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
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
DONATION = ("--transform", "donation", "--timing", "0.2")
COMPARES = "running the whole program in scratch copies"


def written(folder: Path) -> Path:
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(PROGRAM)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return written(tmp_path / "project")


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


def entries(cache: Path) -> list[Path]:
    return sorted((cache / "jaxlint" / "proofs").glob("*.json"))


@dataclass(frozen=True)
class Proven:
    """A project that was proven once, what came of it, and a copy of its proofs for one test."""

    project: Path
    results: dict[tuple[str, str], Any]
    cache: Path


@pytest.fixture(scope="module")
def proven_once(tmp_path_factory: pytest.TempPathFactory) -> Proven:
    folder = tmp_path_factory.mktemp("proven")
    project = written(folder / "project")
    results, _ = run(project, *DONATION)
    assert {function for function, _ in results} == {"first", "second"}
    assert earlier(results) == set()
    return Proven(project, results, Path(f"{project}-cache"))


@pytest.fixture
def proven(proven_once: Proven, tmp_path: Path) -> Iterator[Proven]:
    cache = shutil.copytree(proven_once.cache, tmp_path / "cache")
    yield dataclasses.replace(proven_once, cache=cache)
    shutil.rmtree(proven_once.project)
    written(proven_once.project)


def test_only_what_changed_is_proven_again(proven: Proven) -> None:
    project, before = proven.project, proven.results
    again, _ = run(project, *DONATION, XDG_CACHE_HOME=str(proven.cache))
    assert earlier(again) == {"first", "second"}
    assert {key: one["speedup"] for key, one in again.items()} == {
        key: one["speedup"] for key, one in before.items()
    }
    changed = PROGRAM.replace("average + 0.1 *", "average + 0.3 *").replace(
        "\n@jax", "\n# a line more\n@jax", 1
    )
    (project / "train.py").write_text(changed)
    after, _ = run(project, *DONATION, XDG_CACHE_HOME=str(proven.cache))
    assert earlier(after) == {"second"}
    assert after["second", "donation"]["line"] == before["second", "donation"]["line"] + 1


def test_only_what_this_user_proved_counts(proven: Proven, tmp_path: Path) -> None:
    """A project may bring a cache along, and one may have been copied over that of the user."""
    project = proven.project
    for place in (project / ".cache" / "jaxlint", project / ".jaxlint_cache", project / "proofs"):
        shutil.copytree(proven.cache / "jaxlint", place)
    theirs = Path(os.environ["XDG_STATE_HOME"], "jaxlint")
    shutil.copytree(theirs, project / ".local" / "state" / "jaxlint")
    user = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(proven.cache)}
    assert entries(proven.cache)
    found, _ = run(project, *DONATION, **user)
    assert {function for function, _ in found} == {"first", "second"}
    assert earlier(found) == set()


def test_edits_of_the_source_are_not_run_again(project: Path) -> None:
    before, said = run(project, "--transform", "source")
    assert COMPARES in said
    assert any(candidate.startswith("source") for _, candidate in before)
    again, said = run(project, "--transform", "source")
    assert COMPARES not in said
    assert again.keys() == before.keys()
    assert all(one["earlier"] for one in again.values())


@pytest.fixture(scope="module")
def edited_once(tmp_path_factory: pytest.TempPathFactory) -> Proven:
    """Edits were compared once. A file outside of the project, which no proof knows of, decides what the program prints."""
    folder = tmp_path_factory.mktemp("edited")
    outside, project = folder / "outside.txt", written(folder / "project")
    outside.write_text("quiet")
    # Every edit changes the length of the program, whichever function it compiles.
    shown = f'    if open({str(outside)!r}).read() == "loud":\n        print(len(open(__file__).read()))\n'
    (project / "train.py").write_text(PROGRAM.replace("\n\nif __name__", f"{shown}\n\nif __name__"))
    for _ in range(3):  # it rests on times, which other processes disturb
        results, said = run(project, "--transform", "source")
        assert COMPARES in said
        if any(candidate.startswith("source") for _, candidate in results):
            return Proven(project, results, Path(f"{project}-cache"))
    raise AssertionError(said)


@pytest.fixture
def edited(edited_once: Proven, tmp_path: Path) -> Iterator[Proven]:
    text = (edited_once.project / "train.py").read_text()
    cache = shutil.copytree(edited_once.cache, tmp_path / "cache")
    yield dataclasses.replace(edited_once, cache=cache)
    (edited_once.project / "train.py").write_text(text)


def test_others_use_what_is_kept_in_a_shared_place(tmp_path: Path) -> None:
    """Another user, whose copy of the project lies elsewhere. (Who lacks the secret: `test_shared_store.py`.)"""
    place, secret = str(tmp_path / "bucket"), "a secret of the team"

    def proven_by(user: str, where: str, key: str) -> dict[tuple[str, str], Any]:
        folder = tmp_path / user / "project"
        if not folder.exists():
            folder.parent.mkdir()
            written(folder)
        own = {
            "XDG_STATE_HOME": str(tmp_path / user / "state"),
            "XDG_CACHE_HOME": str(tmp_path / user / "cache"),
        }
        return run(folder, *DONATION, "--proof-cache", where, JAXLINT_PROOF_KEY=key, **own)[0]

    before = proven_by("first", place, secret)
    assert earlier(before) == set()
    after = proven_by("second", f"file://{place}", secret)
    assert earlier(after) == {"first", "second"}
    assert {key: one["speedup"] for key, one in after.items()} == {
        key: one["speedup"] for key, one in before.items()
    }


@pytest.mark.parametrize(
    ("place", "key", "said"),
    [
        ("nowhere://proofs", "a secret of the team", "--proof-cache nowhere://proofs: cannot be opened (Protocol not known"),
        ("proofs", "short", "JAXLINT_PROOF_KEY: shorter than 16 characters"),
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_used_ends_the_command(project: Path, place: str, key: str, said: str) -> None:
    done = verify(project, "--proof-cache", place, "train.py", JAXLINT_PROOF_KEY=key)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") <= 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_goes_on(project: Path) -> None:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": f"{project}-cache"}
    command = [sys.executable, "-m", "jaxlint", "verify", "-q", *DONATION, "train.py"]
    process = subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < until:
        if any(
            b"donation on the original" in entry.read_bytes() for entry in entries(Path(f"{project}-cache"))
        ):
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.05)
    assert process.wait(timeout=120) == 130  # interrupted, with one of two functions proven
    found, _ = run(project, *DONATION)
    assert len(earlier(found)) == 1
    assert {function for function, _ in found} == {"first", "second"}


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
@pytest.mark.parametrize("changed", [False, True])
def test_a_stored_edit_is_compared_again_before_it_is_written(edited: Proven, changed: bool) -> None:
    project = edited.project
    (project.parent / "outside.txt").write_text("loud" if changed else "quiet")
    text = (project / "train.py").read_text()
    again, said = run(
        project, "--transform", "source", "--apply", "--allow-dirty", XDG_CACHE_HOME=str(edited.cache)
    )
    assert again
    assert changed or "comparing the edited program again" in said
    assert ((project / "train.py").read_text() == text) is changed
