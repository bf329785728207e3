"""`jaxlint check` over installed packages: large, working code that must neither crash it nor be called wrong."""

from __future__ import annotations

import functools
import importlib.util
import json
from importlib.metadata import version
from pathlib import Path

import pytest

from benchmarks.corpora import present, run

PACKAGES = ("flax",)


@functools.cache
def outcome_of(package: str) -> run.Outcome:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    # Against the installed JAX, on which these packages work, not the newest one.
    jax = ".".join(version("jax").split(".")[:3])
    return run.check(
        package, Path(spec.origin).parent, run.default_command(), ["--target-jax", jax], timeout_s=300
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_checked_without_a_crash(package: str) -> None:
    outcome = outcome_of(package)
    assert outcome.files > 50
    assert outcome.crash is None
    assert outcome.complaints == []
    assert outcome.exit_code in (0, 1)
    assert outcome.exit_code == int(bool(outcome.findings))


@pytest.mark.parametrize("package", PACKAGES)
def test_working_code_has_no_error(package: str) -> None:
    outcome = outcome_of(package)
    assert outcome.crash is None
    errors = [finding for finding in outcome.findings if finding["severity"] == "error"]
    shown = "\n".join(present.show(i, outcome, finding, context=3) for i, finding in enumerate(errors, 1))
    assert not errors, shown


def test_the_harness_sees_a_crash_and_a_complaint(tmp_path: Path) -> None:
    crash = tmp_path / "crash"
    crash.write_text(
        "#!/bin/sh\necho 'Traceback (most recent call last)' >&2\necho 'ValueError: no' >&2\nexit 1\n"
    )
    internal = tmp_path / "internal"
    internal.write_text(
        f"#!/bin/sh\necho '{json.dumps([])}'\necho 'error: internal error (KeyError: 1)' >&2\nexit 2\n"
    )
    complaint = tmp_path / "complaint"
    complaint.write_text(f"#!/bin/sh\necho '{json.dumps([])}'\necho 'a.py: cannot be parsed' >&2\nexit 2\n")
    for script in (crash, internal, complaint):
        script.chmod(0o755)
    (tmp_path / "a.py").write_text("x = 1\n")
    crashed = run.check("a", tmp_path, [str(crash)], [], timeout_s=30)
    complained = run.check("a", tmp_path, [str(complaint)], [], timeout_s=30)
    assert crashed.crash == "ValueError: no"
    assert (
        run.check("a", tmp_path, [str(internal)], [], timeout_s=30).crash
        == "error: internal error (KeyError: 1)"
    )
    assert complained.crash is None
    assert complained.complaints == ["a.py: cannot be parsed"]
