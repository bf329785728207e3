"""Two real processes with JAX's gloo collectives on the loopback, kept in step, set apart, killed and stalled."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import psutil
import pytest

from jaxlint_runtime.lockstep.verdict import Kind
from jaxlint_runtime.lockstep_run import LockstepRun
from jaxlint_runtime.request import CannotRun, InStep, Request
from tests.helpers.command_line import jaxlint

TRAIN = """
    import os, signal, sys, time
    import jax, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    how = sys.argv[1]
    if how != "never":
        jax.distributed.initialize()
    assert jax.local_device_count() == 2
    over = NamedSharding(Mesh(np.array(jax.devices()), "d"), P("d"))
    x = jax.make_array_from_callback((8,), over, lambda at: np.ones(8, np.float32)[at])
    step = jax.jit(lambda x: x / x.sum())
    evaluate = jax.jit(lambda x: x.mean())
    me = jax.process_index()

    def batches():
        return range(3 if how == "uneven" and me == 1 else 4)

    for turn in batches():
        x = step(x)
        if how == "apart" and turn == 1:
            if me == 0:
                print(evaluate(x))
        if turn == 2 and me == 1:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "stalls":
                time.sleep(1000)
            if how == "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            if how == "raises":
                raise ValueError("no such batch")
    if how == "local" and me == 0:
        print(jax.numpy.ones(3).sum())
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(TRAIN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def line_of(text: str) -> int:
    lines = textwrap.dedent(TRAIN).splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def lockstep(how: str, stall: float = 30.0) -> LockstepRun:
    request = Request("script", "train.py", arguments=(how,), timeout=60.0)
    run = LockstepRun(request, InStep(stall, processes=2, local_devices=2))
    run.run()
    assert_nothing_left([rank.began.pid for rank in run.order.ranks.values() if rank.began])
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
    inside, outside = line_of("evaluate(x)"), line_of("x = step(x)")
    assert found["verdict"] == "diverged"
    assert found["processes"] == [0]
    assert found["message"] == (
        f"process 0 left the common order after 2 programs: it launches `_lambda` (train.py:{inside}) "
        f"where process 1 launches `_lambda` (train.py:{outside})"
    )
    assert found["condition"] == {
        "path": "train.py",
        "line": line_of("if me == 0"),
        "text": "if me == 0",
        "certain": True,
    }
    assert [one["collectives"] for one in found["programs"]] == [{"all-reduce": 1}, {"all-reduce": 1}]
    assert_nothing_left([one["pid"] for one in found["ranks"]])


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        (
            "killed",
            Kind.DIED,
            "process 1 died after 3 programs, the last one `_lambda` (train.py:{step}): it was killed by SIGKILL",
        ),
        ("stalls", Kind.STALLED, "process 1 stalls at train.py:{sleep} for"),
        pytest.param("stopped", Kind.STALLED, "process 1 stalls", marks=pytest.mark.slow),
        pytest.param("raises", Kind.DIED, "it raised ValueError: no such batch", marks=pytest.mark.slow),
        pytest.param(
            "uneven",
            Kind.ENDED,
            "process 1 ended after 3 programs; process 0 waits for it",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "local", Kind.SAME, "2 processes launched the same 4 programs in step", marks=pytest.mark.slow
        ),
    ],
)
def test_how_a_process_ends(how: str, kind: Kind, said: str) -> None:
    run = lockstep(how, stall=2.0)
    assert run.verdict.kind is kind
    assert run.verdict.processes == (() if kind is Kind.SAME else (1,))
    assert said.format(step=line_of("x = step(x)"), sleep=line_of("time.sleep")) in run.verdict.message
    assert "\n" not in run.verdict.message


# It numbers the processes as Slurm does, which JAX finds in their environment.
LAUNCHER = """
    import os, subprocess, sys

    names = {"SLURM_JOB_ID": "%d", "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2", "SLURM_STEP_NUM_NODES": "1"}
    started = [
        subprocess.Popen(sys.argv[1:], env={**os.environ, **names, "SLURM_PROCID": str(n), "SLURM_LOCALID": str(n)})
        for n in range(2)
    ]
    sys.exit(max(one.wait() for one in started))
"""


def test_processes_that_a_launcher_starts(program: Path) -> None:
    launcher = program.parent / "launch.py"
    launcher.write_text(textwrap.dedent(LAUNCHER) % (os.getpid() % 4096), encoding="utf-8")
    done = jaxlint(
        *(
            "verify",
            "--lockstep",
            "--launcher",
            f"{sys.executable} launch.py",
            "-q",
            "train.py",
            "--",
            "uneven",
        ),
        cwd=program.parent,
        JAX_PLATFORMS="cpu",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert done.returncode == 1, done.stderr
    first, why, *_ = done.stdout.splitlines()
    step = line_of("x = step(x)")
    assert first == (
        f"Diverged: process 1 ended after 3 programs; process 0 waits for it in `_lambda` (train.py:{step})."
    )
    assert "`for turn in batches()`" in why
    assert [name for name in os.listdir(program.parent) if "lockstep" in name] == []


@pytest.mark.slow
@pytest.mark.usefixtures("program")
def test_a_program_whose_processes_never_join() -> None:
    with pytest.raises(CannotRun, match="computes before it calls jax"):
        lockstep("never")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lockstep"], "give --processes N or --launcher COMMAND"),
        (
            ["--lockstep", "--launcher", "no-such-launcher -n 2"],
            "no-such-launcher is no command that can be run",
        ),
        (["--lockstep", "--launcher", "env", "--processes", "2"], "leave out --processes"),
        (["--lockstep", "--launcher", "'"], "no closing quotation"),
        (["--lockstep", "--processes", "1"], "1 is not in the range x>=2"),
        (["--lockstep", "--processes", "2", "--apply"], "leave out --apply"),
        (["--processes", "2"], "--processes goes with --lockstep"),
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
