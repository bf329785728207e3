"""`verify --apply` on programs that compiling would change: what it leaves computes the same, also on paths that its run did not take."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.adversarial import programs


def output_of(main: Path, flags: tuple[str, ...]) -> str:
    done = subprocess.run([sys.executable, main.name, *flags], cwd=main.parent, capture_output=True, text=True, timeout=300, check=True)  # fmt: skip
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["settings_halfway"])  # `make adversarial` runs all
def test_an_edited_program_computes_the_same_on_all_of_its_paths(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    program = programs("dangerous")[name]
    main = tmp_path / "main.py"
    for file in program.files:
        shutil.copy(file, tmp_path / file.name if file != program.main else main)
    (tmp_path / "pyproject.toml").touch()
    ways = [(), program.flags]
    before = [output_of(main, flags) for flags in ways]
    verify = [sys.executable, "-m", "jaxlint", "verify", "main.py", "--apply", "--transform", "source"]
    subprocess.run(verify, cwd=tmp_path, capture_output=True, timeout=560, check=True)
    assert [output_of(main, flags) for flags in ways] == before
