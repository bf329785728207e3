"""The command line under a Slurm of one node: processes that a launcher starts, a step whose processes all run it, and jobs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.helpers.slurm import NoSlurm, one_node

PROGRAM = """
    import sys

    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    jax.distributed.initialize()
    apart = "apart" in sys.argv
    split = NamedSharding(Mesh(np.array(jax.devices()), "d"), P("d"))


    @jax.jit
    def step(state, x):
        return state * 0.9 + x / x.sum()


    @jax.jit
    def evaluate(state):
        return state.mean()


    def batch(turn):
        value = np.arange(1, 262145, dtype=np.float32) + turn
        return jax.make_array_from_callback(value.shape, split, lambda at: value[at])


    state = batch(0)
    for turn in range(4):
        state = step(state, batch(turn))
    if jax.process_index() == 0 or not apart:
        print("mean", float(evaluate(state)))
    state = step(state, batch(4))
    jax.block_until_ready(state)
"""
ALONE = """
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(state, x):
        return state * 0.9 + x / x.sum()


    state = jnp.ones(262144)
    for turn in range(4):
        state = step(state, jnp.ones(262144))
    print(float(state[0]))
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[Mapping[str, str]]:
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        try:
            with one_node(Path(folder)) as environment:
                yield {**environment, "JAX_PLATFORMS": "cpu"}
        except NoSlurm as error:
            pytest.skip(str(error))


def ran(slurm: Mapping[str, str], folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=slurm, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )


def jaxlint(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "jaxlint", *arguments]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(textwrap.dedent(PROGRAM).lstrip(), encoding="utf-8")
    (tmp_path / "alone.py").write_text(textwrap.dedent(ALONE).lstrip(), encoding="utf-8")
    return tmp_path


def left_behind(slurm: Mapping[str, str], folder: Path) -> list[str]:
    """Jobs that are still in the queue, and what lies in the folder beside the programs."""
    queue = ran(slurm, folder, "squeue", "--noheader", "--format=%i %T").stdout.splitlines()
    return [one for one in queue if "COMPLETING" not in one] + sorted(
        set(os.listdir(folder)) - {"train.py", "alone.py", ".jaxlint_cache"}
    )


def test_a_launcher_starts_the_processes(slurm: Mapping[str, str], folder: Path) -> None:
    command = jaxlint("verify", "--lockstep", "--launcher", "srun -n 2", "--stall", "3", "train.py")
    alike = ran(slurm, folder, *command)
    assert alike.returncode == 0, alike.stderr
    assert alike.stdout.startswith("In step: 2 processes launched the same ")
    apart = ran(slurm, folder, *command, "--", "apart")
    assert apart.returncode == 1, apart.stderr
    assert "Diverged: process 0 left the common order" in apart.stdout
    assert "is inside `if jax.process_index() == 0 or not apart`" in apart.stdout
    assert left_behind(slurm, folder) == []


def test_each_process_of_a_step_runs_the_command(slurm: Mapping[str, str], folder: Path) -> None:
    command = ["srun", "-n", "2", *jaxlint("verify", "--lockstep", "--stall", "3", "train.py")]
    alike = ran(slurm, folder, *command)
    assert alike.returncode == 0, alike.stderr
    assert alike.stdout.count("In step: 2 processes launched the same ") == 1
    apart = ran(slurm, folder, *command, "--", "apart")
    assert apart.returncode == 1, apart.stderr
    assert apart.stdout.count("Diverged: process 0 left the common order") == 1
    assert left_behind(slurm, folder) == []


def test_the_processes_of_a_step_prove_together(slurm: Mapping[str, str], folder: Path) -> None:
    command = jaxlint("verify", "-q", "--transform", "donation", "--timing", "2", "train.py")
    proven = ran(slurm, folder, "srun", "-n", "2", *command)
    assert proven.returncode == 0, proven.stderr
    assert "1 of 1 candidate proven" in proven.stdout, proven.stdout
    assert "step (100% of the time in jitted functions): 33% less memory with donation." in proven.stdout
    assert proven.stderr.count("running train.py in 2 processes") == 1
    assert left_behind(slurm, folder) == []


def test_what_is_proven_is_written(slurm: Mapping[str, str], folder: Path) -> None:
    (folder / "pyproject.toml").touch()
    command = jaxlint("verify", "-q", "--launcher", "srun -n 2", "--transform", "donation", "--timing", "2")
    written = ran(slurm, folder, *command, "--apply", "--allow-dirty", "train.py")
    assert written.returncode == 0, written.stderr
    assert "donate_argnums=(0,)" in (folder / "train.py").read_text(encoding="utf-8")
    (folder / "pyproject.toml").unlink()
    assert left_behind(slurm, folder) == []


def test_a_candidate_is_a_job(slurm: Mapping[str, str], folder: Path) -> None:
    pytest.importorskip("submitit")
    engine = "submitit:all,timeout_min=10,cpus_per_task=1,slurm_mem=2000"
    command = jaxlint("verify", "-q", "--workers", engine, "--transform", "donation", "--timing", "0.5")
    done = ran(slurm, folder, *command, "alone.py")
    assert done.returncode == 0, done.stderr
    assert "33% less memory with donation." in done.stdout
    assert left_behind(slurm, folder) == []
