"""Which proven donations may be written."""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jaxlint.engine import CheckResult
from jaxlint.finding import Finding, FixRequest, Safety, Severity, Span, Step
from jaxlint.source import read_source
from jaxlint.source.git_metadata import irregular
from jaxlint.source.write import Change
from jaxlint_runtime.apply import apply_proven, writable
from jaxlint_runtime.apply.preview import collect_diffs
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.report.terminal import print_report
from jaxlint_runtime.request import Request
from jaxlint_runtime.spent import Phase
from jaxlint_runtime.verify import Verification

SOURCE = """import jax

@jax.jit
def step(params, x):
    return params + x
"""
SPAN = Span(3, 2, 3, 9)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(SOURCE)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def verification(project: Path, parameters: dict[str, Any] | None = None, **data: Any) -> Verification:
    """As after a run in which the donation of `params` was proven."""
    path = str(project / "program.py")
    found = Verification(Request("script", path))
    found.document.targets = ["cpu"]
    function = {"function": "step", "path": path, "line": 3, "end_line": 5, "jit_path": path, "jit_line": 3}
    found.document.functions = [function]
    result = {
        "function": "step",
        "path": path,
        "line": 3,
        "status": "verified",
        "codemod": "add-donation",
        "candidate": "donation",
        "parameters": {"argnums": [0], "names": ["params"], **(parameters or {})},
    }
    found.document.results = [("cpu", result)]
    fix = FixRequest(Safety.UNSAFE, "Donate", (Step("add-donation", path, SPAN, {"argnums": [0]}),))
    finding = Finding(
        path,
        SPAN,
        "JAX601",
        "missing-donation",
        "memory",
        Severity.WARNING,
        "message",
        "reason",
        fix=fix,
        data={"callers_complete": True, "public": False, "aliased": False, **data},
    )
    found.check = CheckResult(findings=[finding], sources={path: read_source(Path(path), path)})
    return found


def advice(found: Verification, allow_dirty: bool = False) -> str:
    """What the report says of the one result when it is not tried."""
    assert writable.choose(found, allow_dirty) == []
    (entry,) = found.document.applied
    assert not entry["kept"]
    return str(entry["message"])


def test_a_proven_donation_with_all_callers_known_is_tried(project: Path) -> None:
    found = verification(project)
    (edit,) = writable.choose(found, allow_dirty=False)
    assert edit.argnums == (0,)
    (change,) = writable.changes_of([edit], found)
    assert "@functools.partial(jax.jit, donate_argnums=(0,))" in change.text


def test_a_donation_of_what_a_queue_keeps_stays_advice(project: Path) -> None:
    loop = "\ndef run(params, batches, jobs):\n    for x in batches:\n        jobs.put((0, params))\n        params = step(params, x)\n"
    (project / "program.py").write_text(SOURCE + loop)
    told = advice(verification(project))
    assert told.startswith("advice only: `params` may be kept by `jobs.put((0, params))` at line 9")


def test_a_donation_of_what_is_read_behind_a_flag_stays_advice(project: Path) -> None:
    loop = (
        "\nimport jax.numpy as jnp\n\ndef run(flag):\n    params = {'w': jnp.ones(3)}\n    x = jnp.ones(3)\n"
        "    after = step(params, x)\n    if flag:\n        print(params['w'])\n    return after\n"
    )
    (project / "program.py").write_text(SOURCE + loop)
    told = advice(verification(project))
    assert told.startswith("advice only: check finds an error in the edited file"), told


def test_an_interrupt_while_the_edited_program_runs_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(edits: object, verification: Verification) -> None:
        raise KeyboardInterrupt

    found = verification(project)
    before = {path: path.read_text() for path in project.rglob("*.py")}
    monkeypatch.setattr(apply_proven, "try_all", interrupted)
    apply_proven.apply_proven(found, allow_dirty=False)
    assert found.document.interrupted
    assert {path: path.read_text() for path in project.rglob("*.py")} == before


def test_why_git_does_not_say_whether_there_are_changes(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    assert advice(verification(project)).endswith("has uncommitted changes; commit them or use --allow-dirty")
    assert writable.choose(verification(project), allow_dirty=True)
    config = project / ".git" / "config"
    text = config.read_text()
    config.write_text("[core\n")
    told = advice(verification(project))
    assert told.startswith(
        "not changed: git cannot say whether program.py has uncommitted changes: bad config line 1"
    )
    config.write_text(text)
    pipe = project / ".git" / "refs" / "pipe"
    os.mkfifo(pipe)
    irregular.cache_clear()
    told = advice(verification(project))
    assert told == (
        f"not changed: git could not be asked whether program.py has uncommitted changes: {pipe} is not a regular file; "
        "use --allow-dirty"
    )
    irregular.cache_clear()


@pytest.mark.parametrize(
    ("data", "parameters", "reason"),
    [
        ({"public": True}, {}, "the function is public"),
        ({"public": None}, {}, "the function is public"),
        ({"callers_complete": False}, {}, "some callers"),
        ({"aliased": True}, {}, "another reference to the argument"),
        ({}, {"shared": [["params", "target"]]}, "params and target may be the same buffer"),
        ({}, {"argnums": [1]}, "a caller may use the donated arguments"),
    ],
    ids=["public", "unknown", "callers", "aliased", "shared", "other-argument"],
)
def test_anything_less_certain_stays_advice(project: Path, data: Any, parameters: Any, reason: str) -> None:
    assert reason in advice(verification(project, parameters, **data))


def test_without_a_finding_the_callers_are_not_known(project: Path) -> None:
    found = verification(project)
    assert found.check is not None
    found.check.findings.clear()
    assert "the callers are unknown" in advice(found)


def dominated(project: Path) -> Verification:
    """A proven donation; a kernel that is advice, and both together, are faster and smaller still."""
    found = verification(project)
    ((target, donation),) = found.document.results

    def proven(candidate: str, peak: int, base: str = "", **parameters: Any) -> dict[str, Any]:
        return {
            **donation,
            "candidate": candidate,
            "base": base,
            "reason": "smaller",
            "evidence": "run here",
            "numerics": None,
            "speedup": None,
            "pairs_ms": [],
            "codemod": "add-donation" if candidate == "donation" else None,
            "parameters": donation["parameters"] if candidate == "donation" else parameters,
            "before": {"peak_bytes": 100 * 2**20, "time_ms": None},
            "after": {"peak_bytes": peak * 2**20, "time_ms": None},
        }

    found.document.results = [
        (target, proven("donation", 60)),
        (target, proven("kernels:norm", 30, "donation", unwritten="no call of a library does it")),
        (target, proven("donation + kernels:norm", 30)),
    ]
    return found


def trade_offs(found: Verification) -> list[str]:
    """The rows of the table of trade-offs, without their spaces."""
    found.document.functions = []
    found.document.ran = True
    stream = io.StringIO()
    print_report(found.document, stream)
    _, _, choice = stream.getvalue().partition("Trade-offs")
    return [" ".join(line.split()) for line in choice.splitlines()]


def test_advice_that_is_better_hinders_no_donation(project: Path) -> None:
    found = dominated(project)
    (edit,) = writable.choose(found, allow_dirty=False)
    assert edit.result["candidate"] == "donation"
    beside = [(one["candidate"], one["kept"]) for one in found.document.applied]
    assert beside == [("kernels:norm", False), ("donation + kernels:norm", False)]
    assert all(one["message"].endswith("; donation is tried instead") for one in found.document.applied)
    found.document.diffs = collect_diffs(found)
    assert [bool(one["diff"]) for one in found.document.diffs] == [True, False, False]
    lines = trade_offs(found)
    assert any(line.startswith("step donation ") and line.endswith("writes it") for line in lines)
    assert any(line.startswith("step attention by norm ") and line.endswith("advice") for line in lines)


def test_trade_offs_say_what_is_written_and_compare_calls_alone(project: Path) -> None:
    found = dominated(project)
    target, donation = found.document.results[0]
    whole = {"peak_bytes": 2**20, "time_ms": {"median": 2400.0, "low": 2400.0, "high": 2400.0}}
    found.document.results.append((target, {**donation, "candidate": "source:jit", "after": whole}))
    place = {"function": "step", "path": donation["path"], "line": donation["line"]}
    found.document.applied = [{**place, "candidate": "donation", "kept": True, "message": "proven"}]
    lines = trade_offs(found)
    assert any(line.startswith("step donation ") and line.endswith(" written") for line in lines)
    assert not any("2400" in line for line in lines)  # the time of a program beside that of a call


def test_of_edits_of_one_kind_the_best_is_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = dominated(project)
    (target, donation), *_ = found.document.results
    better = {
        **donation,
        "candidate": "donation of more",
        "after": {"peak_bytes": 20 * 2**20, "time_ms": None},
    }
    found.document.results = [(target, donation), (target, better)]
    (edit,) = writable.choose(found, allow_dirty=False)
    assert edit.result["candidate"] == "donation of more"


def test_what_is_not_proven_is_not_even_mentioned(project: Path) -> None:
    found = verification(project)
    found.document.results[0][1]["status"] = "rejected"
    assert writable.choose(found, allow_dirty=True) == []
    assert found.document.applied == []


def test_what_was_only_compiled_is_written_on_request_alone(project: Path) -> None:
    found = verification(project)
    found.document.results = [("tpu:v5e-1x1", {**found.document.results[0][1], "status": "compiled"})]
    assert "--accept-compiled" in advice(found)
    assert len(writable.choose(found, allow_dirty=False, accept_compiled=True)) == 1
    slow = verification(project)  # on the device at hand, but too slow to be timed
    slow.document.results[0][1]["status"] = "compiled"
    assert len(writable.choose(slow, allow_dirty=False)) == 1
    both = verification(project)
    both.document.results.append(found.document.results[0])
    assert len(writable.choose(both, allow_dirty=False)) == 1
    assert both.document.applied == []


def git(project: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", "-C", str(project), *identity, *arguments], check=True, capture_output=True)


def test_files_with_uncommitted_changes_need_a_word(project: Path) -> None:
    git(project, "init")
    assert "uncommitted changes" in advice(verification(project))
    assert writable.choose(verification(project), allow_dirty=True)
    git(project, "add", "program.py")
    git(project, "commit", "-m", "first")
    assert writable.choose(verification(project), allow_dirty=False)


def test_what_the_command_itself_has_written_may_be_edited_further(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "init")
    git(project, "add", "program.py")
    git(project, "commit", "-m", "first")
    found = verification(project)
    assert found.check is not None
    (source,) = found.check.sources.values()
    found.rewritten = [Change(source, SOURCE + "\nstep(1, 2)\n")]
    seen: list[Verification] = []

    def run(again: Verification) -> Document:
        seen.append(again)
        again.document.interrupted = True
        return again.document

    monkeypatch.setattr(Verification, "run", run)
    apply_proven.apply_proven(found, allow_dirty=False)
    assert (project / "program.py").read_text().endswith("step(1, 2)\n")
    (again,) = seen
    assert again.request.least_saved == 2**20
    later = verification(project)
    assert "uncommitted changes" in advice(later)
    later.written = again.written
    assert writable.choose(later, allow_dirty=False)


@pytest.mark.parametrize(("used", "runs"), [(20.0, 1), (45.0, 0)])
def test_a_written_program_runs_again_only_where_that_can_be_paid(
    project: Path, monkeypatch: pytest.MonkeyPatch, used: float, runs: int
) -> None:
    """The program takes 10 s of processor time, 5 s once it is edited, and 50 s are allowed."""
    found = verification(project)
    found.request = dataclasses.replace(found.request, price=5.0)
    ratio = {"median": 2.0, "low": 2.0, "high": 2.0}
    found.document.results.append(("cpu", {"status": "verified", "ratios": {"total": ratio}}))  # type: ignore[typeddict-item]
    found.spent.program_s = 10.0
    found.spent.phases["before"] = Phase(used, used)
    asked: list[str] = []
    monkeypatch.setattr(found.listener, "note", asked.append)
    monkeypatch.setattr(Verification, "run", lambda again: again.document)
    monkeypatch.setattr(apply_proven, "apply_proven", lambda *arguments: None)
    apply_proven._verify_again(found, True, False)
    assert asked.count("looking for more gains in the edited program") == runs
    assert any("more than 5 times the processor time" in one for one in asked) is (runs == 0)


def test_files_outside_the_project_are_not_edited(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").touch()
    (inner / "run.py").touch()
    found = verification(project)
    found.request = Request("script", str(inner / "run.py"))
    assert "is outside the project" in advice(found, allow_dirty=True)


def test_files_below_version_control_and_behind_links_out_are_not_edited(project: Path) -> None:
    hidden = project / ".git" / "hook.py"
    hidden.parent.mkdir()
    hidden.write_text(SOURCE)
    for path, why in (
        (hidden, "in a folder of version control"),
        (project / "notes.txt", "not a Python file"),
    ):
        path.write_text(SOURCE)
        assert why in str(writable.not_to_be_changed(str(path), project, allow_dirty=True))


COMMANDS = """[core]
\tfsmonitor = "touch {marker}; false"
\thooksPath = {folder}
\tpager = touch {marker}
[diff]
\texternal = touch {marker}
[status]
\tsubmoduleSummary = true
[filter "a{letter}b"]
\tclean = touch {marker}; cat
\tprocess = touch {marker}; false
\trequired = true
"""
# As git was before 2.31: settings in the environment mean nothing.
OLD_GIT = """#!/bin/sh
unset GIT_CONFIG_COUNT
exec {git} "$@"
"""


@pytest.mark.parametrize(("letter", "old"), [("=", False), ("-", False), ("=", True), ("-", True)])
def test_asking_git_runs_nothing_that_the_repository_names(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    letter: str,
    old: bool,
) -> None:
    outside = tmp_path_factory.mktemp("out")
    marker = outside / "ran"
    git(project, "init")
    inner = project / "part"
    inner.mkdir()
    git(inner, "init")
    git(inner, "commit", "--allow-empty", "-m", "a part")
    git(project, "add", "program.py", "part")
    git(project, "commit", "-m", "first")
    (project / ".gitattributes").write_text(f"*.py filter=a{letter}b\n")
    (project / "program.py").write_text(SOURCE.replace("params + x", "x + params"))  # of the same size
    for folder in (project, inner):
        with (folder / ".git" / "config").open("a") as file:
            file.write(COMMANDS.format(marker=marker, folder=project, letter=letter))
    if old:
        (outside / "git").write_text(OLD_GIT.format(git=shutil.which("git")))
        (outside / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{outside}:{os.environ['PATH']}")
    told = writable.not_to_be_changed(str(project / "program.py"), project, allow_dirty=False)
    if letter == "=" and old:
        assert told is not None
        assert "git cannot say whether program.py has uncommitted changes: a filter of" in told
    else:
        assert told == "not changed: program.py has uncommitted changes; commit them or use --allow-dirty"
    assert not marker.exists()
    subprocess.run(["git", "-C", str(project), "status"], check=False, capture_output=True)
    assert marker.exists()  # so that the test would see it
