"""Runs the tests of a package under the recording plugin and keeps what it saw."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.corpora.fetch import FetchError
from benchmarks.staging.commands import pytest_under, run_for
from benchmarks.staging.packages import Subject

INSTRUMENT = Path(__file__).with_name("instrument")
PARTS = 8
GRACE_S = 600  # for imports, collection and the last test


def observe(
    subject: Subject, python: str, seconds: float, seed: int, cache: Path, fresh: bool, jobs: int = 1
) -> dict[str, Any]:
    """What JAX traced in a sample of the tests that takes about `seconds`; paths are relative to the package's root.

    The sample is run in PARTS processes, `jobs` at a time: a test that breaks its process takes but one part along.
    Kept in `cache`; `fresh` runs the tests again all the same. Raises FetchError when no test could be run.
    """
    folder = cache / "truth"
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{subject.name}-{subject.version}-{seconds:g}s-seed{seed}.json"
    if fresh or not out.exists():
        out.unlink(missing_ok=True)
        _run(subject, python, seconds, seed, out, jobs)
    return dict(json.loads(out.read_text()))


def _run(subject: Subject, python: str, seconds: float, seed: int, out: Path, jobs: int) -> None:
    version = [python, "-c", "import sys; print(sys.version_info >= (3, 12))"]
    if subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip() != "True":
        raise FetchError(f"{python}: recording needs Python 3.12 or later; name one with --python")
    command = pytest_under("jaxlint_truth", python, subject, out.with_suffix(".ini"))
    each = seconds * jobs / PARTS

    def run(part: int) -> dict[str, Any] | None:
        partial = out.with_suffix(f".{part}.json")
        partial.unlink(missing_ok=True)
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(INSTRUMENT), str(subject.imports.resolve()), str(subject.root.resolve())]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "JAX_PLATFORMS": "cpu",
            "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",  # of the compiler, which is what most of the time goes into
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TRUTH_OUT": str(partial.resolve()),
            "TRUTH_ROOTS": os.pathsep.join(str((subject.root / path).resolve()) for path in subject.sources),
            "TRUTH_SECONDS": f"{each}",
            "TRUTH_TEST_SECONDS": f"{max(10.0, each / 5)}",
            "TRUTH_SEED": f"{seed}",
            "TRUTH_PART": f"{part}/{PARTS}",
        }  # fmt: skip
        run_for(each + GRACE_S, command, subject, environment, _log(out, part))
        if not partial.exists():
            return None
        seen: dict[str, Any] = json.loads(partial.read_text())
        partial.unlink()
        return seen

    with ThreadPoolExecutor(jobs) as pool:
        parts = [part for part in pool.map(run, range(PARTS)) if part is not None]
    if not parts:
        last = _log(out, 0).read_text().strip().splitlines()[-1:] or ["no output"]
        raise FetchError(f"{subject.name}: no test was recorded ({last[0]}); see {_log(out, 0)}")
    truth = merged(parts)
    _make_relative(truth, str(subject.root.resolve()))
    out.write_text(json.dumps(truth))


def _log(out: Path, part: int) -> Path:
    return out.with_suffix(f".{part}.log")


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What several processes saw, as one; the join adds up what they saw of the same function."""
    truth = dict(parts[0])
    tests: Counter[str] = Counter()
    for part in parts:
        tests.update(part["tests"])
    for name in ("collected", "distinct", "files not collected"):  # the same for each
        if name in tests:
            tests[name] = max(part["tests"].get(name, 0) for part in parts)
    truth["tests"] = dict(tests)
    truth["reached"] = sorted({path for part in parts for path in part["reached"]})
    truth["functions"] = [record for part in parts for record in part["functions"]]
    return truth


def _make_relative(truth: dict[str, Any], root: str) -> None:
    """Writes the paths as jaxlint names them when it runs in `root`."""
    truth["reached"] = [os.path.relpath(path, root) for path in truth["reached"]]
    for record in truth["functions"]:
        record["path"] = os.path.relpath(record["path"], root)
        for caller in record["callers"]:
            caller["path"] = caller["path"] and os.path.relpath(caller["path"], root)
