"""The extension for VS Code, as far as it runs without VS Code: what starts the server, and its settings."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_its_own_tests_pass() -> None:
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--test", "test/"], cwd=EXTENSION, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout


def test_it_has_the_version_of_jaxlint_and_names_no_server_for_packages() -> None:
    from jaxlint import __version__

    manifest = json.loads((EXTENSION / "package.json").read_text())
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    assert manifest["version"] == lock["version"] == __version__
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
