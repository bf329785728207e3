"""The commands that recordings run: jaxlint over a package and its tests, and these tests under a plugin, for a while."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpora.fetch import FetchError
from benchmarks.staging.packages import Subject


def jaxlint(command: list[str], subcommand: str, subject: Subject, *more: str) -> list[dict[str, Any]]:
    """The JSON of `jaxlint inspect` or `check` over package and tests together. Raises FetchError where there is none."""
    full = [*command, subcommand, "--output-format", "json", *more, *subject.sources]
    done = subprocess.run(full, cwd=subject.root, capture_output=True, text=True, check=False)
    try:
        records: list[dict[str, Any]] = json.loads(done.stdout)
    except ValueError as error:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise FetchError(f"{subject.name}: jaxlint {subcommand} gave no JSON: {last}") from error
    if done.stderr.strip():
        print(f"{subject.name}: {done.stderr.strip()}", file=sys.stderr)
    return records


def pytest_under(plugin: str, python: str, subject: Subject, settings: Path) -> list[str]:
    """The command that runs the tests of a package under a plugin. Writes `settings`."""
    settings.write_text("[pytest]\n")  # the package's own would bring options of plugins that are not there
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=line",
        "-p",
        plugin,
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
    return [*command, *subject.tests]


def run_for(
    seconds: float, command: list[str], subject: Subject, environment: Mapping[str, str], log: Path
) -> None:
    """Runs a command in the folder of a package; what it prints goes to `log`, and after `seconds` it is ended."""
    with log.open("w") as stream:
        try:
            subprocess.run(
                command,
                cwd=subject.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{subject.name}: ended after {seconds:g} s; see {log}", file=sys.stderr)
