"""Packages from PyPI, unpacked without their dependencies into a cache folder outside the repository."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

_BOOTSTRAP = Path(__file__).parents[2] / ".bootstrap" / "bin"  # where `make setup` puts uv
PINS = Path(__file__).with_name("packages.txt")


class FetchError(Exception):
    """A package could not be had; the message is one line."""


def pinned() -> dict[str, str]:
    """Name to version of the packages in packages.txt."""
    lines = (line.partition("#")[0].strip() for line in PINS.read_text().splitlines())
    return dict(line.split("==") for line in lines if line)


def cache_folder() -> Path:
    """Where unpacked packages are kept: $JAXLINT_CORPORA, or below the user's cache folder."""
    if chosen := os.environ.get("JAXLINT_CORPORA"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "jaxlint-corpora"


def fetch(package: str, cache: Path) -> Path:
    """The folder with the sources of `package` ("name", pinned in packages.txt, or "name==version").

    Raises FetchError for a name without a version and for a failed download.
    """
    name, _, version = package.partition("==")
    version = version or pinned().get(name, "")
    if not version:
        raise FetchError(f"{name}: no version; write {name}==VERSION or add it to {PINS.name}")
    folder = cache / f"{name}-{version}"
    if folder.is_dir():
        return folder
    partial = cache / f".{name}-{version}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    command = [
        *_installer(),
        "--quiet",
        "--no-deps",
        "--target",
        str(partial),
        f"{name}=={version}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise FetchError(f"{name}=={version}: {last}")
    partial.rename(folder)
    return folder


def _installer() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    if uv := shutil.which("uv") or shutil.which("uv", path=_BOOTSTRAP):
        return [uv, "pip", "install", "--python", sys.executable]
    raise FetchError("neither pip nor uv is at hand; install one of them in this environment")
