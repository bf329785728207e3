"""Runs the tests of a package under the recording plugin and keeps what it saw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpora.fetch import FetchError
from benchmarks.staging.packages import Subject

INSTRUMENT = Path(__file__).with_name("instrument")
GRACE_S = 600  # for imports, collection and the last test


def observe(
    subject: Subject, python: str, seconds: float, seed: int, cache: Path, fresh: bool
) -> dict[str, Any]:
    """What JAX traced in a sample of the tests that takes about `seconds`; paths are relative to the package's root.

    Kept in `cache`; `fresh` runs the tests again all the same. Raises FetchError when no test could be run.
    """
    folder = cache / "truth"
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{subject.name}-{subject.version}-{seconds:g}s-seed{seed}.json"
    if fresh or not out.exists():
        out.unlink(missing_ok=True)
        _run(subject, python, seconds, seed, out)
    return dict(json.loads(out.read_text()))


def _run(subject: Subject, python: str, seconds: float, seed: int, out: Path) -> None:
    version = [python, "-c", "import sys; print(sys.version_info >= (3, 12))"]
    if subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip() != "True":
        raise FetchError(f"{python}: recording needs Python 3.12 or later; name one with --python")
    settings = out.with_suffix(".ini")
    settings.write_text("[pytest]\n")  # the package's own would bring options of plugins that are not there
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(INSTRUMENT), str(subject.imports.resolve()), str(subject.root.resolve())]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "JAX_PLATFORMS": "cpu",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TRUTH_OUT": str(out.resolve()),
        "TRUTH_ROOTS": os.pathsep.join(str((subject.root / path).resolve()) for path in subject.sources),
        "TRUTH_SECONDS": f"{seconds}",
        "TRUTH_TEST_SECONDS": f"{max(10.0, seconds / 6)}",
        "TRUTH_SEED": f"{seed}",
    }  # fmt: skip
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=line",
        "-p",
        "jaxlint_truth",
        "-p",
        "no:cacheprovider",
    ]
    command += [
        "-c",
        str(settings),
        f"--rootdir={subject.root}",
        "--continue-on-collection-errors",
        "-W",
        "ignore",
    ]
    log = out.with_suffix(".log")
    with log.open("w") as stream:
        try:
            subprocess.run(
                [*command, *subject.tests],
                cwd=subject.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=seconds + GRACE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{subject.name}: the tests were ended after {seconds + GRACE_S:g} s", file=sys.stderr)
    if not out.exists():
        last = log.read_text().strip().splitlines()[-1:] or ["no output"]
        raise FetchError(f"{subject.name}: no test was recorded ({last[0]}); see {log}")
    _make_relative(out, str(subject.root.resolve()))


def _make_relative(out: Path, root: str) -> None:
    """Writes the paths as jaxlint names them when it runs in `root`."""
    truth = json.loads(out.read_text())
    for record in truth["functions"]:
        record["path"] = os.path.relpath(record["path"], root)
        for caller in record["callers"]:
            caller["path"] = caller["path"] and os.path.relpath(caller["path"], root)
    out.write_text(json.dumps(truth))
