"""Real packages with their tests: source distributions from PyPI, or checkouts, and what in them is package and test."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePath

from benchmarks.corpora.fetch import FetchError, pinned

LEFT_OUT = {"docs", "doc", "examples", "benchmarks", "build", "dist", "scripts", "tools", "conftest.py"}


@dataclass(slots=True, frozen=True)
class Subject:
    """A package below `root`: `sources` and `tests` are paths relative to it, `imports` the folder to import from."""

    name: str
    version: str
    root: Path
    imports: Path
    sources: tuple[str, ...]
    tests: tuple[str, ...]


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests, by the customs of pytest and absltest."""
    pure = PurePath(path)
    name = pure.name
    return (
        name == "conftest.py"
        or name.startswith("test_")
        or name.endswith(("_test.py", "_tests.py"))
        or bool({"test", "tests"} & set(pure.parts[:-1]))
    )


def subject(package: str, cache: Path, checkout: Path | None = None) -> Subject:
    """The package "name" (pinned) or "name==version", unpacked in `cache`, or as `checkout` has it.

    Raises FetchError when it cannot be had or has no tests.
    """
    name, _, version = package.partition("==")
    version = version or pinned().get(name, "")
    if checkout is not None:
        root = checkout.resolve()
    elif version:
        root = sdist(name, version, cache)
    else:
        raise FetchError(f"{name}: no version; write {name}==VERSION")
    imports = root / "src" if (root / "src").is_dir() else root
    packages = sorted(
        folder.relative_to(root).as_posix()
        for folder in imports.iterdir()
        if (folder / "__init__.py").is_file()
        and folder.name not in LEFT_OUT
        and not is_test(f"{folder.name}/x")
    )
    files = [path.relative_to(root) for path in sorted(root.rglob("*.py"))]
    tests = sorted(
        path.as_posix()
        for path in files
        if is_test(path.as_posix()) and not LEFT_OUT & set(path.parts) and path.name != "conftest.py"
    )
    apart = sorted({PurePath(path).parts[0] for path in tests if not path.startswith(tuple(packages))})
    chosen = [path for path in tests if PurePath(path).name.startswith("test_") or path.endswith("_test.py")]
    if not packages or not chosen:
        raise FetchError(
            f"{name}: no package with tests in {root}; give a checkout with --path {name}=FOLDER"
        )
    return Subject(name, version or "checkout", root, imports, (*packages, *apart), tuple(chosen))


def sdist(name: str, version: str, cache: Path) -> Path:
    """The unpacked source distribution."""
    folder = cache / "sdists" / f"{name}-{version}"
    if folder.is_dir():
        return folder
    partial = cache / "sdists" / f".{name}-{version}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    if importlib.util.find_spec("pip"):
        pip = [sys.executable, "-m", "pip"]
    elif uv := shutil.which("uv"):
        pip = [uv, "tool", "run", "pip"]
    else:
        raise FetchError("neither pip nor uv is at hand; install one of them in this environment")
    wanted = [f"{name}=={version}", "--no-deps", "--no-binary", ":all:", "--dest", str(partial)]
    done = subprocess.run([*pip, "download", "--quiet", *wanted], capture_output=True, text=True, check=False)
    archives = list(partial.glob("*.tar.gz"))
    if done.returncode or not archives:
        last = (done.stderr.strip() or "no source distribution").splitlines()[-1]
        raise FetchError(f"{name}=={version}: {last}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(partial, filter="data")
    archives[0].unlink()
    (inside,) = (path for path in partial.iterdir() if path.is_dir())
    inside.rename(folder)
    shutil.rmtree(partial)
    return folder
