"""Resurrection: how many of a package's own tests pass on today's JAX, before `jaxlint fix` and after it.

    python -m benchmarks.migration [--python PYTHON] [--packages chex mctx ...] [--seconds 600] [--output FILE]

Each release of packages.txt is unpacked without its dependencies and tested three times with `--python`, an environment that has
today's JAX and what the tests need: as it is, after `jaxlint fix`, and after `jaxlint fix --unsafe-fixes`. Fixes are for the newest JAX and its newest
neighbours, whatever the release asks for: that is what it is to run on. What JAX compiles in one stage the next ones find in a cache.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from benchmarks.corpora.fetch import FetchError, cache_folder, fetch
from jaxlint.jaxapi.history import NEWEST

PACKAGES = Path(__file__).with_name("packages.txt")
STAGES = (("before", None), ("fix", ()), ("unsafe", ("--unsafe-fixes",)))

LEFT_OUT = ("__pycache__", "*.dist-info", "requirements*")  # the last two say which old releases it was for


@dataclass
class Outcome:
    """What the tests of one stage gave. `needs` counts the last lines of the errors, most frequent first."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cut_off: bool = False
    fixes: str = ""
    needs: list[tuple[str, int]] = field(default_factory=list)


def releases(wanted: list[str]) -> list[tuple[str, str, str]]:
    rows = [line.partition("#")[0].split() for line in PACKAGES.read_text().splitlines()]
    chosen = [(row[0], row[1], row[2]) for row in rows if row]
    return [row for row in chosen if not wanted or row[0].partition("==")[0] in wanted]


def run_tests(folder: Path, tests: str, python: str, seconds: int, cache: Path) -> Outcome:
    """Runs the tests below `folder`, which shadows what is installed. `cache` has what was compiled before."""
    result = Outcome()
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [
            python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "--continue-on-collection-errors",
            "-W", "ignore", "-o", "python_files=*_test.py test_*.py", f"--junit-xml={report.name}",
            "--timeout=180", f"--session-timeout={seconds}", "--tb=line", str(folder / tests),
        ]  # fmt: skip
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "JAX_PLATFORMS": "cpu",
            "PYTHONDONTWRITEBYTECODE": "1",
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        try:
            run = subprocess.run(
                command,
                cwd=folder / tests.partition("/")[0],
                env=environment,
                capture_output=True,
                text=True,
                timeout=seconds + 120,
                check=False,
            )
            result.cut_off = "session-timeout" in run.stdout
            cases = list(ET.parse(report.name).iter("testcase"))
        except (subprocess.TimeoutExpired, ET.ParseError):
            result.cut_off = True
            return result
    needs: collections.Counter[str] = collections.Counter()
    for case in cases:
        wrong = next((child for child in case if child.tag in ("failure", "error")), None)
        if wrong is not None:
            result.failed += 1
            needs[_cause(f"{wrong.get('message') or ''}\n{wrong.text or ''}")] += 1
        elif case.find("skipped") is not None:
            result.skipped += 1
        else:
            result.passed += 1
    result.needs = needs.most_common(8)
    return result


def _cause(text: str) -> str:
    """The line of an error that names its kind, without what differs from test to test."""
    lines = [
        line.strip()
        for line in text.splitlines()
        if re.match(r"\s*(E\s+)?[\w.]*(Error|Exception|Warning)\b", line)
    ]
    return re.sub(r"0x[0-9a-f]+|\s+", " ", lines[-1].removeprefix("E ").strip() if lines else text[-120:])[
        :160
    ]


def same_files(one: Path, other: Path) -> bool:
    """Whether two stages have the same sources, so that one run of the tests speaks for both."""
    names = {path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*.py")}
    return all(
        (one / name).is_file()
        and (other / name).is_file()
        and (one / name).read_bytes() == (other / name).read_bytes()
        for name in names
    )


def resurrect(package: str, name: str, tests: str, python: str, seconds: int) -> dict[str, object]:
    source = fetch(package, cache_folder())
    if not (source / tests).exists():
        raise FetchError(f"{package} has no {tests}; correct it in {PACKAGES.name}")
    found: dict[str, object] = {"package": package}
    with tempfile.TemporaryDirectory() as scratch:
        previous, outcome = Path(scratch), Outcome()
        for stage, options in STAGES:
            folder = Path(scratch) / stage
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
            fixes = ""
            if options is not None:
                command = [sys.executable, "-m", "jaxlint", "fix", "--no-cache", "--select", "migration"]
                command += [
                    "--target-jax",
                    NEWEST,
                    *options,
                    name,
                    *([tests] if not tests.startswith(name) else []),
                ]
                run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                fixes = (run.stdout.strip().splitlines() or run.stderr.strip().splitlines() or [""])[-1]
            if same_files(previous, folder):
                outcome = replace(outcome)
            else:
                outcome = run_tests(folder, tests, python, seconds, Path(scratch) / "compiled")
            outcome.fixes, previous = fixes, folder
            found[stage] = asdict(outcome)
            print(
                f"{package:20s} {stage:7s} {outcome.passed} passed, {outcome.failed} failed"
                f"{' (stopped)' if outcome.cut_off else ''}   {fixes}",
                flush=True,
            )
            for need, count in outcome.needs[:5]:
                print(f"    {count:4d}  {need}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--packages", nargs="*", default=[])
    parser.add_argument("--seconds", type=int, default=600, help="for each run of a package's tests")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    found: list[dict[str, object]] = []
    for row in releases(options.packages):
        try:
            found.append(resurrect(*row, options.python, options.seconds))
        except FetchError as error:
            print(error, file=sys.stderr)
        if options.output:
            options.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
