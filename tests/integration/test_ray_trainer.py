"""The command line and Ray's `JaxTrainer`: two workers of a Ray of this machine, with CPU devices and gloo's collectives."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

PACKAGES = ("ray", "pandas", "pyarrow")
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in PACKAGES), reason="needs ray[train]: make test-ray"
)
PROGRAM = """
    import sys

    import ray
    from ray.train import RunConfig, ScalingConfig
    from ray.train.v2.jax import JaxConfig, JaxTrainer


    def train(config):
        import jax
        import numpy as np
        from jax.sharding import Mesh, NamedSharding
        from jax.sharding import PartitionSpec as P

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
        if jax.process_index() == 0 or not config["apart"]:
            print("mean", float(evaluate(state)))
        jax.block_until_ready(step(state, batch(4)))


    ray.init(num_cpus=3, include_dashboard=False, _temp_dir=sys.argv[1])
    JaxTrainer(
        train,
        train_loop_config={"apart": "apart" in sys.argv},
        jax_config=JaxConfig(use_gpu=True),  # connects the workers on CPUs, too
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(
            storage_path=sys.argv[1] + "/results",
            worker_runtime_env={"env_vars": {"JAX_PLATFORMS": "cpu"}},
        ),
    ).fit()
"""


@pytest.fixture
def temporary() -> Iterator[str]:
    with tempfile.TemporaryDirectory(
        dir="/tmp", ignore_cleanup_errors=True
    ) as name:  # sockets have short names
        yield name


def ran(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(textwrap.dedent(PROGRAM).lstrip(), encoding="utf-8")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-m", "jaxlint", "verify", "--launcher", "ray", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def rays() -> set[int]:
    found = psutil.process_iter(["name", "cmdline"])
    return {one.pid for one in found if any("raylet" in word for word in one.info["cmdline"] or ())}


def test_workers_that_launch_the_same_are_in_step_and_others_are_told(tmp_path: Path, temporary: str) -> None:
    before = rays()
    alike = ran(tmp_path, "--lockstep", "--stall", "5", "train.py", "--", temporary)
    assert alike.returncode == 0, alike.stderr
    assert alike.stdout.startswith("In step: 2 processes launched the same ")
    apart = ran(tmp_path, "--lockstep", "--stall", "5", "train.py", "--", temporary, "apart")
    assert apart.returncode == 1, apart.stderr
    assert "Diverged: process 0 left the common order" in apart.stdout
    assert "is inside `if jax.process_index() == 0 or not config['apart']` (train.py:" in apart.stdout
    assert rays() <= before
    assert set(os.listdir(tmp_path)) <= {"train.py", ".jaxlint_cache"}


def test_candidates_are_proven_in_the_workers(tmp_path: Path, temporary: str) -> None:
    done = ran(tmp_path, "-q", "--output-format", "json", "train.py", "--", temporary)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    proven = [one for one in run["results"] if one["function"] == "train.<locals>.step"]
    assert ("donation", "verified") in {(one["candidate"], one["status"]) for one in proven}
