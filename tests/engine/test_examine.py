"""Files that no import connects, examined by themselves: the findings are the same, and told as soon as they are final."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jaxlint import examine, processes
from jaxlint.config import Config, load_config
from jaxlint.engine import CheckResult, check
from jaxlint.examine import Observer
from jaxlint.finding import Finding
from jaxlint.staging import import_components

if TYPE_CHECKING:
    from tests.engine.conftest import StandInAnalysis

ROOT = Path(__file__).parents[2]
PACKAGES = ("chex", "jmp", "lineax", "einops")


class Notes(Observer):
    """Keeps what it is told, with how often the analysis had run by then."""

    watches = True

    def __init__(self, analysis: StandInAnalysis | None = None) -> None:
        self.analysis = analysis
        self.found_at: list[tuple[int, list[str]]] = []
        self.shares: list[float] = []
        self.files: list[tuple[int, int]] = []

    def found(self, findings: Sequence[Finding]) -> None:
        if findings:
            runs = len(self.analysis.calls) if self.analysis is not None else 0
            self.found_at.append((runs, [f"{one.path}:{one.span.line}" for one in findings]))

    def advanced(self, files: int, of: int, share: float) -> None:
        self.files.append((files, of))
        self.shares.append(share)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_components, "SHARD_LINES", 1)


def run(observer: Observer | None = None, jobs: int | None = None) -> CheckResult:
    return check(["."], load_config(["."]), use_cache=False, jobs=jobs, observer=observer)


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(f"import jax\n{text}")


def test_findings_are_told_once_all_files_before_are_done(
    project: Path, stand_in: StandInAnalysis, small_parts: None
) -> None:
    write(project, {"a.py": "bad\n", "b.py": "import d\nbad\n", "c.py": "bad; bad\n", "d.py": "bad\n"})
    notes = Notes(stand_in)
    result = run(notes)
    assert stand_in.calls == [["a.py"], ["b.py", "d.py"], ["c.py"]]
    assert notes.found_at == [(1, ["a.py:2"]), (2, ["b.py:3"]), (3, ["c.py:2", "c.py:2", "d.py:2"])]
    assert [one.path for one in result.findings] == ["a.py", "b.py", "c.py", "c.py", "d.py"]


def test_what_is_remembered_is_told_at_once(
    project: Path, stand_in: StandInAnalysis, small_parts: None
) -> None:
    write(project, {"a.py": "bad\n", "b.py": "bad\n"})
    for runs in (2, 2):
        notes = Notes(stand_in)
        check(["."], load_config(["."]), observer=notes)
        assert len(stand_in.calls) == runs
        assert [place for _, places in notes.found_at for place in places] == ["a.py:2", "b.py:2"]


def test_a_run_that_is_small_is_one_part(project: Path, stand_in: StandInAnalysis) -> None:
    write(project, {"a.py": "bad\n", "b.py": "bad\n"})
    run(jobs=4)
    assert stand_in.calls == [["a.py", "b.py"]]  # and in this process, or there would be no note of it


def test_what_is_done_is_told(project: Path, stand_in: StandInAnalysis, small_parts: None) -> None:
    write(project, {"a.py": "bad\ndef f(): pass\n", "b.py": "bad\n", "c.py": ""})
    notes = Notes()
    run(notes)
    assert notes.files[0] == (0, 3)
    assert notes.files[-1] == (3, 3)
    assert notes.shares == sorted(notes.shares)
    assert (notes.shares[0], notes.shares[-1]) == (0, 1)


def test_a_crash_costs_one_file_of_its_part(
    project: Path, stand_in: StandInAnalysis, small_parts: None
) -> None:
    write(project, {"a.py": "import b\nbad\n", "b.py": "boom\n", "c.py": "bad\n"})
    stand_in.crash_on = "boom"
    result = run()
    assert [one.path for one in result.findings] == ["a.py", "c.py"]
    assert [error.path for error in result.errors] == ["b.py"]


# -- in processes

TRACED = """\
import jax

@jax.jit
def step(x):
    if x > 0:
        return x
    return -x
"""
# The command, where each component is a part, and processes are made as the first argument says.
COMMAND = """
import os, signal, sys
from jaxlint import examine, processes, staging
from jaxlint.staging import import_components

way, own, analyze = sys.argv.pop(1), os.getpid(), staging.analyze
import_components.SHARD_LINES, examine.STARTED_LINES = 1, 0
if way != "fork":
    processes.can_fork = lambda: False

def deadly(sources, *arguments, **options):
    if os.getpid() != own and any("kill" in s.text for s in sources if s.path in options.get("only", ())):
        os.kill(os.getpid(), signal.SIGKILL)
    return analyze(sources, *arguments, **options)

staging.analyze = deadly

if __name__ == "__main__":
    from jaxlint.cli import main
    main()
"""
WAYS = [
    pytest.param("fork", marks=pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux alone")),
    "spawn",
]


def command(project: Path, *arguments: str, way: str = "fork") -> subprocess.CompletedProcess[str]:
    program = project.parent / "command.py"
    program.write_text(COMMAND)
    path = os.pathsep.join(str(ROOT / folder) for folder in (".", "rules", "runtime"))
    return subprocess.run(
        [sys.executable, str(program), way, "check", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is in copies of this process alone")
def test_a_part_whose_process_dies_costs_one_line(project: Path) -> None:
    for name in "abcde":
        (project / f"{name}.py").write_text(TRACED)
    (project / "b.py").write_text(f"import d, e\n{TRACED}# kill\n")
    for _ in range(2):  # and nothing is remembered
        done = command(project, "-j", "2", "--output-format", "concise")
        assert done.stderr.splitlines() == [
            "error: b.py: the process that checked this file and 2 more was killed (SIGKILL); their findings are missing"
        ]
        assert [line.partition(":")[0] for line in done.stdout.splitlines()[:-1]] == ["a.py", "c.py"]
        assert done.returncode == 2


@pytest.mark.parametrize("way", WAYS)
def test_processes_find_what_one_finds(project: Path, way: str) -> None:
    for number in range(4):
        (project / f"f{number}.py").write_text(f"{TRACED}\nimport g{number}\n")
        (project / f"g{number}.py").write_text(TRACED if number != 2 else "f(\n")
    runs = [command(project, "--no-cache", "-j", jobs, way=way) for jobs in ("1", "2", "5")]
    assert len({(run.stdout, run.stderr, run.returncode) for run in runs}) == 1
    assert runs[0].stdout.count("JAX101") == 7
    assert "Found 7 errors in 8 files" in runs[0].stdout
    assert runs[0].stderr.startswith("error: g2.py:")
    assert len(runs[0].stderr.splitlines()) == 1


def test_rules_that_no_process_can_be_sent_run_here(
    project: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jaxlint_rules.tracing.tracer_branch import TracerBranch

    class Local(TracerBranch):
        """No other process finds a class of a function."""

    (project / "a.py").write_text(TRACED)
    (project / "b.py").write_text(TRACED)
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    monkeypatch.setattr(Config, "rules", lambda self: [Local])
    monkeypatch.setattr(examine, "STARTED_LINES", 0)
    monkeypatch.setattr(processes, "in_processes", lambda *args: pytest.fail("it was sent"))
    assert [one.path for one in run(jobs=2).findings] == ["a.py", "b.py"]


def test_python_is_not_started_anew_for_little_work(
    project: Path, stand_in: StandInAnalysis, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, {"a.py": "bad\n", "b.py": "bad\n"})
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    assert [one.path for one in run(jobs=2).findings] == ["a.py", "b.py"]
    assert stand_in.calls == [["a.py"], ["b.py"]]  # in this process, or there would be no note of it


@pytest.mark.slow
def test_packages_say_the_same_whatever_the_number_of_processes(tmp_path: Path) -> None:
    """As a user runs it: byte for byte, as text and whole."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        folder = tmp_path / f"{name}-sources" / name
        shutil.copytree(Path(spec.origin).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "program.py").write_text(f"import {name}\n{TRACED}")
    (tmp_path / "pyproject.toml").write_text("")
    lines = sum(path.read_bytes().count(b"\n") for path in tmp_path.rglob("*.py"))
    assert lines > 3 * import_components.SHARD_LINES
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "jaxlint", "check", "--no-cache", "-j", jobs, "--output-format", "full", "--severity", "info", "."],
            cwd=tmp_path,
            capture_output=True,
            timeout=300,
            check=False,
        ).stdout
        for jobs in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
    assert b"JAX101" in outputs.pop()


def test_a_lost_file_alone_is_named() -> None:
    assert examine.lost(["a.py"], "was killed (SIGKILL)").message == (
        "the process that checked this file was killed (SIGKILL); its findings are missing"
    )
