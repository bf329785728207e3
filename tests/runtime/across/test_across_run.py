"""Two real processes that prove candidates together: what is proven and written, and what ends the run."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import jaxlint

TRAIN = """
    import os
    import signal
    import sys

    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    how = sys.argv[1]
    jax.distributed.initialize()
    split = NamedSharding(Mesh(np.array(jax.devices()), "d"), P("d"))


    @jax.jit
    def step(state, x):
        return state * 0.9 + x / x.sum()


    @jax.jit
    def local(x):
        return x.sum()


    def leave(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGKILL if how == "killed" else signal.SIGSTOP)


    def batch(turn):
        value = np.arange(1, 262145, dtype=np.float32) + turn
        return jax.make_array_from_callback(value.shape, split, lambda at: value[at])


    state = batch(0)
    # kept: first = state
    for turn in range(4):
        state = step(state, batch(turn))
        print(turn, float(local(np.ones(4, np.float32))))
    # kept: print(first.addressable_shards[0].data.sum())
    if how in ("killed", "stopped") and jax.process_index() == 1:
        jax.stages.Compiled.__call__ = leave  # the proofs call compiled programs
    jax.distributed.shutdown()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(TRAIN).lstrip(), encoding="utf-8")
    return path


def verified(program: Path, how: str, *options: str) -> tuple[int, dict[str, Any], str]:
    done = jaxlint(
        *("verify", "-q", "--processes", "2", "--local-devices", "2", "--timing", "0.5", "--stall", "3"),
        *("--output-format", "json", *options, "train.py", "--", how),
        cwd=program.parent,
        timeout=300,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def results_of(document: dict[str, Any], function: str) -> dict[str, dict[str, Any]]:
    return {
        one["candidate"]: one
        for run in document["runs"]
        for one in run["results"]
        if one["function"] == function
    }


def test_a_donation_is_proven_in_all_processes_and_written(program: Path) -> None:
    code, document, errors = verified(program, "plain", "--apply")
    donation = results_of(document, "step")["donation"]
    assert donation["status"] == "verified", donation
    assert donation["evidence"].startswith("the same bits on the captured inputs and 2 random variations")
    assert "compared and timed in 2 processes at once, times of process 0" in donation["evidence"]
    assert donation["after"]["peak_bytes"] < donation["before"]["peak_bytes"]
    assert donation["before"]["compile_s"] > 0.01
    assert not results_of(document, "local")  # each process runs it by itself
    assert "1 jitted function runs in each process separately and was not tried" in errors
    assert document["program"]["processes"] == 2
    assert code == 0
    assert "donate_argnums=(0,)" in program.read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_argument_that_is_read_again_is_not_donated(program: Path) -> None:
    before = program.read_text(encoding="utf-8").replace("# kept: ", "")
    program.write_text(before, encoding="utf-8")
    code, document, _ = verified(program, "kept", "--apply")
    assert code == 0
    assert results_of(document, "step")["donation"]["status"] == "verified"
    assert [one["kept"] for one in document["applied"]] == [False]
    assert program.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("killed", "process 1 died after"),
        pytest.param("stopped", "process 1 stalls", marks=pytest.mark.slow),
    ],
)
def test_a_process_that_leaves_the_proofs_ends_the_run(how: str, said: str, program: Path) -> None:
    code, document, errors = verified(program, how)
    assert code == 1
    assert said in errors.splitlines()[-1]
    assert document["errors"] == [errors.splitlines()[-1].removeprefix("jaxlint: ")]
