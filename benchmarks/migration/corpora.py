"""Rewrites copies of whole projects, and checks what came of them.

    python -m benchmarks.migration.corpora FOLDER... [--python PYTHON] [--rewrites FILE] [--seconds 600]

Each FOLDER is a project. In a copy, `jaxlint fix --unsafe-fixes` migrates it to the newest JAX. Then: every rewritten file parses; every name
of JAX and its neighbours that the rewrites brought in exists in `--python`'s environment, which should have the newest releases; no
name went that something still uses; a second run changes nothing. `--rewrites` takes every changed line, to be read.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint.jaxapi.history import NEWEST, PACKAGES

SUFFIXES = (".py", ".ipynb")
RESOLVE = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
def there(name):
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False
json.dump([name for name in json.load(sys.stdin) if not there(name)], sys.stdout)
"""


@dataclass
class Outcome:
    """What became of one project. `brought` are the names that only the rewritten text has."""

    files: int = 0
    rewritten: int = 0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)
    unbound: list[str] = field(default_factory=list)
    restless: list[str] = field(default_factory=list)
    brought: dict[str, str] = field(default_factory=dict)
    left: int = 0
    stopped: bool = False


def texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="surrogateescape")
        for path in sorted(folder.rglob("*.py"))
        if path.is_file()
    }


def fix(folder: Path, seconds: int = 600, target: str = NEWEST) -> subprocess.CompletedProcess[str] | None:
    """Migrates everything in `folder` to `target`; None when that takes longer than `seconds`."""
    options = "--no-cache --select migration --unsafe-fixes --target-jax"
    command = [sys.executable, "-m", "jaxlint", "fix", *options.split(), target, "."]
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None


def meanings(tree: ast.AST) -> dict[str, str]:
    """What the imports of a file make its names mean, as far as they are of the packages at hand."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return {name: meant for name, meant in found.items() if meant.partition(".")[0] in PACKAGES}


def names(text: str) -> set[str]:
    """Every dotted name of JAX and its neighbours that a file imports or spells out."""
    tree = ast.parse(text)
    meant = meanings(tree)
    found = {name for name in meant.values() if not name.endswith(".*")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.partition(".")[0] in PACKAGES}
        if isinstance(node, ast.Attribute):
            parts: list[str] = []
            inner: ast.AST = node
            while isinstance(inner, ast.Attribute):
                parts.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in meant:
                found.add(".".join([meant[inner.id], *reversed(parts)]))
    return found


def lost(old: str, new: str) -> Iterator[str]:
    """Names that the old file imported, and the new one uses without binding them anywhere."""
    before, after = ast.parse(old), ast.parse(new)
    bound = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(after)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    stored = {
        node.id
        for node in ast.walk(after)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    stored |= {node.arg for node in ast.walk(after) if isinstance(node, ast.arg)}
    stored |= {
        node.name
        for node in ast.walk(after)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    used = {node.id for node in ast.walk(after) if isinstance(node, ast.Name)}
    yield from sorted((set(meanings(before)) & used) - bound - stored)


def migrate(project: Path, seconds: int, rewrites: list[str]) -> Outcome:
    found = Outcome()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / project.name
        shutil.copytree(project, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        before = texts(folder)
        start = time.monotonic()
        run = fix(folder, seconds)
        found.seconds, found.files = time.monotonic() - start, len(before)
        if run is None:
            found.stopped = True
            return found
        after = texts(folder)
        found.left = sum(line.startswith("  ") and ": JAX" in line for line in run.stdout.splitlines())
        for path in after:
            if after[path] == before.get(path):
                continue
            found.rewritten += 1
            try:
                for name in names(after[path]) - names(before[path]):
                    found.brought.setdefault(name, path)
                found.unbound += [f"{path}: {name}" for name in lost(before[path], after[path])]
            except SyntaxError as error:
                found.broken.append(f"{path}: {error}")
            lines = difflib.unified_diff(
                before[path].splitlines(),
                after[path].splitlines(),
                f"{project.name}/{path}",
                "",
                "",
                "",
                1,
                "",
            )
            rewrites += list(lines)
        if found.rewritten:
            again = fix(folder, seconds)
            last = texts(folder)
            found.stopped = again is None
            found.restless = [path for path in last if last[path] != after[path]]
    return found


def missing(wanted: list[str], python: str) -> list[str]:
    """Those of the names that do not exist in `python`'s environment."""
    run = subprocess.run(
        [python, "-c", RESOLVE], input=json.dumps(wanted), capture_output=True, text=True, check=True
    )
    gone: list[str] = json.loads(run.stdout)
    return gone


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rewrites", type=Path)
    parser.add_argument("--seconds", type=int, default=600, help="for each run of `fix`")
    options = parser.parse_args()
    rewrites: list[str] = []
    whole: dict[str, Outcome] = {}
    for project in options.folders:
        one = whole[project.name] = migrate(project, options.seconds, rewrites)
        state = "stopped" if one.stopped else f"{one.seconds:.0f} s"
        print(
            f"{project.name:24s} {one.files:5d} files, {one.rewritten:4d} rewritten, {one.left:4d} findings left, {state}",
            flush=True,
        )
        for kind in ("broken", "unbound", "restless"):
            for place in getattr(one, kind):
                print(f"    {kind}: {place}", flush=True)
        if options.rewrites:
            options.rewrites.write_text("\n".join(rewrites) + "\n", encoding="utf-8", errors="replace")
    brought = {name: f"{p}/{path}" for p, one in whole.items() for name, path in one.brought.items()}
    gone = missing(sorted(brought), options.python)
    for name in gone:
        print(f"    not there: {name} ({brought[name]})")
    total = [one for one in whole.values() if not one.stopped]
    print(
        f"{len(total)} projects of {len(whole)}: {sum(one.files for one in total)} files, "
        f"{sum(one.rewritten for one in total)} rewritten, {sum(len(one.broken) for one in total)} of them do not parse, "
        f"{sum(len(one.restless) for one in total)} changed by a second run; "
        f"{len(brought)} names brought in, {len(gone)} of them not there; {sum(len(one.unbound) for one in total)} names unbound"
    )


if __name__ == "__main__":
    main()
