"""The findings on record: of pinned packages line by line, of the programs of `tests/programs` a hash for each kind of defect.

A change of structure changes none of them. A change of findings is recorded by `make golden`, and its commit says which finding changed, and why.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import metadata, util
from pathlib import Path
from typing import Any

from tests.helpers.command_line import jaxlint
from tools.findings import findings_of

TESTS = Path(__file__).parents[1]
PROGRAMS = TESTS / "programs"
RECORDS = TESTS / "golden"
HASHES = RECORDS / "programs.json"
PACKAGES = {
    "chex": "chex",
    "equinox": "equinox",
    "flax": "flax",
    "haiku": "dm-haiku",
    "lineax": "lineax",
    "optax": "optax",
}


def record_of(package: str) -> Path:
    """Where the findings of the installed release of a package are on record."""
    return RECORDS / f"{package}-{metadata.version(PACKAGES[package])}.txt"


def package_findings(package: str, folder: Path) -> list[str]:
    """What `check` says of an installed package, copied into `folder`, where nothing else is read."""
    found = util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    copy = folder / package
    shutil.copytree(Path(found.origin).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return findings_of(copy)


def program_findings(folder: Path, programs: Iterable[str]) -> list[dict[str, Any]]:
    """What `jaxlint check` says of each program, as JSON has it; each is a project of its own, and no test."""
    homes = {f"program{number}": path for number, path in enumerate(sorted(programs))}
    for home, path in homes.items():
        (folder / home).mkdir()
        (folder / home / "program.py").write_bytes((PROGRAMS / path).read_bytes())
    run = jaxlint("check", "--no-cache", "--output-format", "json", str(folder), cwd=folder, timeout=300)
    assert run.returncode == 1, run.stderr
    text = re.sub(
        r"(program\d+)/program\.py", lambda found: homes[found[1]], run.stdout.replace(f"{folder}/", "")
    )
    findings: list[dict[str, Any]] = json.loads(text)
    return findings


def hashes(findings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """A hash of all that is said of the programs of each kind of defect."""
    lines: dict[str, list[str]] = defaultdict(list)
    for finding in findings:
        lines[finding["path"].partition("/")[0]].append(json.dumps(finding, sort_keys=True))
    return {
        kind: hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:16]
        for kind, found in sorted(lines.items())
    }
