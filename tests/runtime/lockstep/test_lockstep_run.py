"""Two real processes with JAX's gloo collectives on the loopback, kept in step, set apart, killed and stalled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks.cluster.programs import CASES, SOURCE, Case, line_of
from jaxlint_runtime.lockstep_run import LockstepRun
from jaxlint_runtime.request import CannotRun, InStep, Request
from tests.helpers.command_line import jaxlint


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def lockstep(how: str, stall: float = 30.0) -> LockstepRun:
    request = Request("script", "train.py", arguments=(how,), timeout=60.0)
    run = LockstepRun(request, InStep(stall, processes=2, local_devices=2))
    run.run()
    assert_nothing_left([rank.began.pid for rank in run.ranks if rank.began])
    return run


def assert_nothing_left(pids: list[int]) -> None:
    assert len(pids) == 2
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []
    assert [name for name in os.listdir() if "lockstep" in name] == []


def test_a_collective_in_one_process_alone(program: Path) -> None:
    done = jaxlint(
        *(
            "verify",
            "--lockstep",
            "--processes",
            "2",
            "--local-devices",
            "2",
            "-q",
            "--output-format",
            "json",
        ),
        *("train.py", "--", "apart"),
        cwd=program.parent,
    )
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["lockstep"]
    inside, outside = line_of("print(evaluate(x))"), line_of("x = step(x)")
    assert found["verdict"] == "diverged"
    assert found["processes"] == [0]
    assert found["message"] == (
        f"process 0 left the common order after 2 programs: it launches `evaluate` (train.py:{inside}) "
        f"where process 1 launches `step` (train.py:{outside})"
    )
    assert found["condition"] == {
        "path": "train.py",
        "line": line_of("if me == 0"),
        "text": "if me == 0",
        "certain": True,
    }
    assert [one["collectives"] for one in found["programs"]] == [{"all-reduce": 1}, {"all-reduce": 1}]
    assert_nothing_left([one["pid"] for one in found["ranks"]])


QUICK = ("killed", "stalls")


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.how, marks=() if case.how in QUICK else pytest.mark.slow)
        for case in CASES
        if case.how in (*QUICK, "local", "raises", "stopped", "returns")
    ],
)
def test_what_is_said_of_a_process_that_leaves(case: Case) -> None:
    run = lockstep(case.how, stall=2.0)
    verdict = run.verdict
    assert verdict.kind == case.verdict
    assert verdict.processes == (() if case.process is None else (case.process,))
    assert "\n" not in verdict.message
    if case.how != "local":
        assert f"train.py:{line_of(case.line)}" in f"{verdict.message} {verdict.why}"


# It numbers the processes as Slurm does, which JAX finds in their environment.
LAUNCHER = """
    import os, signal, subprocess, sys

    def give_back(*_):  # srun cancels its job; where it is killed at once, the job stays
        open("given_back", "w").close()
        sys.exit(1)

    signal.signal(signal.SIGTERM, give_back)
    names = {"SLURM_JOB_ID": "%d", "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2", "SLURM_STEP_NUM_NODES": "1"}
    started = [
        subprocess.Popen(sys.argv[1:], env={**os.environ, **names, "SLURM_PROCID": str(n), "SLURM_LOCALID": str(n)})
        for n in range(2)
    ]
    sys.exit(max(one.wait() for one in started))
"""


@pytest.mark.parametrize(
    ("how", "said"),
    [
        pytest.param(
            "apart",
            "Diverged: process 0 left the common order after 2 programs: it launches `evaluate` (train.py:{evaluate})"
            " where process 1 launches `step` (train.py:{step}).",
            marks=pytest.mark.slow,
        ),
        (
            "uneven",
            "Diverged: process 1 ended after 3 programs; process 0 waits for it in `step` (train.py:{step}).",
        ),
        pytest.param(
            "killed",
            "Died: process 1 died after 3 programs, the last one `step` (train.py:{step}): it stopped answering.",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_processes_that_a_launcher_starts(how: str, said: str, program: Path) -> None:
    launcher = program.parent / "launch.py"
    launcher.write_text(textwrap.dedent(LAUNCHER) % (os.getpid() % 4096), encoding="utf-8")
    done = jaxlint(
        *("verify", "--lockstep", "--launcher", f"{sys.executable} launch.py", "-q", "train.py", "--", how),
        cwd=program.parent,
        JAX_PLATFORMS="cpu",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert done.returncode == 1, done.stderr
    first, why, *_ = done.stdout.splitlines()
    lines = {"step": line_of("x = step(x)"), "evaluate": int(re.findall(r"train\.py:(\d+)", first)[0])}
    assert first == said.format(**lines)
    assert ("`for turn in turns()`" in why) == (how == "uneven")
    assert (program.parent / "given_back").exists()
    assert [name for name in os.listdir(program.parent) if "lockstep" in name] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("apart", "Diverged: process 0 left the common order after 2 programs"),
        (
            "killed",
            "Died: process 1 died after 3 programs, the last one `step` (train.py:{step}): it was killed by SIGKILL",
        ),
    ],
)
def test_commands_that_share_a_folder(how: str, said: str, program: Path) -> None:
    """One command for each process, as in the pods of a job; that of process 0 decides."""
    (program.parent / "lists").mkdir()
    known = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2"}
    command = [
        sys.executable,
        "-m",
        "jaxlint",
        "verify",
        "--lockstep",
        "--shared",
        "lists",
        "-q",
        "train.py",
        "--",
        how,
    ]
    started = [
        subprocess.Popen(
            command,
            env={
                **os.environ,
                **known,
                **dict.fromkeys(("SLURM_PROCID", "SLURM_LOCALID"), str(number)),
                "JAX_PLATFORMS": "cpu",
                "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    outputs = [one.communicate(timeout=120)[0] for one in started]
    assert [one.returncode for one in started] == [1, 1]
    assert outputs[0].startswith(said.format(step=line_of("x = step(x)")))
    assert outputs[1] == ""
    again = jaxlint("verify", "--lockstep", "--shared", "lists", "train.py", "--", how, cwd=program.parent)
    assert again.returncode == 2
    assert "holds the lists of an earlier run" in again.stderr


@pytest.mark.slow
def test_a_process_that_never_comes_to_join_the_others(program: Path) -> None:
    program.write_text(
        "import os, time, jax\n"
        "if os.environ['RANK'] == '1':\n"
        "    time.sleep(100)\n"
        "jax.distributed.initialize(initialization_timeout=5)\n",
        encoding="utf-8",
    )
    run = lockstep("late")
    assert run.verdict.kind == "stalled"
    assert run.verdict.message.startswith("process 1 stalls at train.py:3; the others waited for it")


@pytest.mark.slow
@pytest.mark.usefixtures("program")
def test_a_program_whose_processes_never_join() -> None:
    with pytest.raises(CannotRun, match="computes before it calls jax"):
        lockstep("never")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lockstep"], "give --processes N, --launcher COMMAND, or all of them one --shared FOLDER"),
        (
            ["--lockstep", "--launcher", "no-such-launcher -n 2"],
            "no-such-launcher cannot be run here",
        ),
        (["--lockstep", "--launcher", "env", "--processes", "2"], "leave out --processes"),
        (["--lockstep", "--launcher", "'"], "no closing quotation"),
        (["--lockstep", "--processes", "1"], "1 is not in the range x>=2"),
        (["--lockstep", "--processes", "2", "--apply"], "leave out --apply"),
        (["--processes", "2", "--mesh", "d=2"], "--mesh is for programs of one process"),
        (["--shared", ".", "--apply"], "--apply also starts the edited program"),
        (
            ["--lockstep", "--launcher", "true", "--local-devices", "2"],
            "--local-devices goes with --processes",
        ),
        (["--lockstep", "--launcher", "false"], "`false` started no process"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(arguments: list[str], said: str, program: Path) -> None:
    from click.testing import CliRunner

    from jaxlint.cli import main

    done = CliRunner().invoke(main, ["verify", *arguments, "train.py"])
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_verify_alone_refuses_one_of_several_processes(program: Path) -> None:
    program.write_text(
        'import jax\njax.distributed.initialize("127.0.0.1:1", num_processes=4, process_id=1)\n',
        encoding="utf-8",
    )
    done = jaxlint("verify", "-q", "train.py", cwd=program.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    said = "error: train.py: one of 4 processes (jax.distributed.initialize), and verify runs one; see --processes and --launcher"
    assert done.stderr.splitlines()[-1] == said
