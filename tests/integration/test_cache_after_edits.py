"""Whatever was edited since, a run that remembers reports what one without memory does."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jaxlint.cli import main
from jaxlint.staging import import_components

DEMO = Path(__file__).parents[2] / "fixtures" / "demo"
HELPERS = """
import jax
import numpy as np


def positive(x):
    if x > 0:
        return x
    return -x


def on_host(x):
    return np.sin(x)
"""
MAIN = """
import jax
from lib.helpers import on_host, positive

step = jax.jit(positive)
other = jax.jit(lambda x: on_host(x) + float(x))
"""
SETTINGS = ["", '[tool.jaxlint]\nignore = ["JAX101"]\n', '[tool.jaxlint]\nextend-exclude = ["lib"]\n']

Edit = Callable[[Path, random.Random], None]


def _python(project: Path, chance: random.Random) -> Path:
    return chance.choice(sorted(project.rglob("*.py")))


def drop_a_line(project: Path, chance: random.Random) -> None:
    """Often enough what is left does not parse, or has lost its `jit`."""
    path = _python(project, chance)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines:
        del lines[chance.randrange(len(lines))]
    path.write_text("".join(lines), encoding="utf-8")


def swap_two_lines(project: Path, chance: random.Random) -> None:
    path = _python(project, chance)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if len(lines) > 1:
        at = chance.randrange(len(lines) - 1)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    path.write_text("".join(lines), encoding="utf-8")


def jit_or_not(project: Path, chance: random.Random) -> None:
    path = _python(project, chance)
    text = path.read_text(encoding="utf-8")
    old, new = chance.choice(
        [("jax.jit(", "print("), ("print(", "jax.jit("), ("@jax.jit\n", ""), ("> 0", "is None")]
    )
    path.write_text(text.replace(old, new), encoding="utf-8")


def silence(project: Path, chance: random.Random) -> None:
    path = _python(project, chance)
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines:
        lines[chance.randrange(len(lines))] += chance.choice(["  # noqa", "  # jaxlint: ignore[JAX101]"])
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rename_a_module(project: Path, chance: random.Random) -> None:
    here, there = project / "lib/helpers.py", project / "lib/aside.py"
    if here.exists():
        here.rename(there)
    elif there.exists():
        there.rename(here)


def delete_a_file(project: Path, chance: random.Random) -> None:
    if len(list(project.rglob("*.py"))) > 3:
        _python(project, chance).unlink()


def restore(project: Path, chance: random.Random) -> None:
    _write(project)


def change_settings(project: Path, chance: random.Random) -> None:
    (project / "pyproject.toml").write_text(chance.choice(SETTINGS), encoding="utf-8")


EDITS: list[Edit] = [
    drop_a_line,
    swap_two_lines,
    jit_or_not,
    silence,
    rename_a_module,
    delete_a_file,
    restore,
    change_settings,
]


def _write(project: Path) -> None:
    (project / "lib").mkdir(exist_ok=True)
    (project / "lib/__init__.py").write_text("", encoding="utf-8")
    (project / "lib/helpers.py").write_text(HELPERS, encoding="utf-8")
    (project / "main.py").write_text(MAIN, encoding="utf-8")
    for source in DEMO.glob("*.py"):
        shutil.copy(source, project / source.name)


def _check(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["check", "--output-format", "json", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_run_says_what_a_cold_one_does(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    if seed % 2:  # each group of connected files is a part with an entry of its own
        monkeypatch.setattr(import_components, "SHARD_LINES", 1)
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    _write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert _check(".") == _check("--no-cache", ".")
    told = set()
    for _ in range(8):
        edits = chance.choices(EDITS, k=chance.randint(1, 3))
        for edit in edits:
            edit(tmp_path, chance)
        paths = chance.choice([["."], ["main.py"], ["lib", "train.py"]])
        paths = [path for path in paths if Path(path).exists()] or ["."]
        cold = _check("--no-cache", *paths)
        assert _check(*paths) == cold, [edit.__name__ for edit in edits]
        assert _check(*paths) == cold, "nothing was edited since"
        told.add(cold)
    assert len(told) > 3, "the edits change what there is to say"
