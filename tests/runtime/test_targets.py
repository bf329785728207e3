"""Names of targets, what is said of those that are not there, and compiling for a TPU without one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from jaxlint.cli.targets import command
from jaxlint_runtime import targets
from jaxlint_runtime.targets import TargetUnavailable, UnknownTarget, parse


@pytest.mark.parametrize(
    ("name", "platform", "topology", "single"),
    [
        ("cpu", "cpu", None, False),
        ("gpu", "gpu", None, False),
        ("tpu", "tpu", None, False),
        ("tpu:v5e-1x1", "tpu", "v5e:1x1", True),
        ("tpu:v5e-2x2", "tpu", "v5e:2x2", False),
        ("tpu:v5p-2x2x1", "tpu", "v5p:2x2x1", False),
        ("tpu:v6e-1x1", "tpu", "v6e:1x1", True),
        ("tpu:v4-2x2x1", "tpu", "v4:2x2x1", False),
        ("gpu:h100x1", "gpu", "1x1x1", True),
        ("gpu:h100x4", "gpu", "1x1x4", False),
        ("gpu:a100x1", "gpu", "1x1x1", True),
        ("gpu:a100-80gbx2", "gpu", "1x1x2", False),
    ],
)
def test_names(name, platform, topology, single):
    target = parse(name)
    assert (target.name, target.platform, target.topology, target.single_chip) == (
        name,
        platform,
        topology,
        single,
    )
    assert target.compile_only == (topology is not None)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "CPU",
        "cuda",
        "tpu:",
        "tpu:v5e",
        "tpu:v5e-2x2x1",
        "tpu:v5p-2x2",
        "tpu:v9-1x1",
        "tpu:v5e-0x1",
        "gpu:h100",
        "gpu:h100x0",
        "gpu:nonex1",
    ],
)
def test_unknown_names_get_one_line_with_those_accepted(name):
    with pytest.raises(UnknownTarget) as caught:
        parse(name)
    message = str(caught.value)
    assert repr(name) in message
    assert "tpu:v5e-1x1" in message
    assert "\n" not in message


def test_a_missing_compiler_says_what_to_install(monkeypatch):
    found = importlib.util.find_spec
    hidden = ("libtpu", "jax_cuda12_plugin", "jax_cuda13_plugin")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in hidden else found(name, *rest)
    )
    targets._topology_devices.cache_clear()
    with pytest.raises(TargetUnavailable, match=r"libtpu.*jaxlint-suite\[tpu\]"):
        parse("tpu:v5e-1x1").devices()
    with pytest.raises(TargetUnavailable, match=r"CUDA.*jaxlint-suite\[gpu\]"):
        parse("gpu:h100x1").devices()


def test_the_device_at_hand_is_found():
    assert targets.unavailable(parse("cpu")) is None
    assert parse("cpu").devices()[0].platform == "cpu"


def test_a_device_that_is_not_there_names_the_way_without_it():
    import jax

    platforms = {device.platform for device in jax.devices()}
    for name in {"gpu", "tpu"} - platforms:
        with pytest.raises(TargetUnavailable, match="compiles without one"):
            parse(name).devices()


def test_compile_only_targets_need_their_environment_before_jax():
    environment = parse("tpu:v5e-1x1").environment
    assert (environment["JAX_PLATFORMS"], environment["TPU_SKIP_MDS_QUERY"]) == ("cpu", "1")
    assert "--xla_gpu_autotune_level=0" in parse("gpu:h100x1").environment["XLA_FLAGS"]
    assert parse("gpu").environment == {}


def test_the_command_lists_every_kind():
    shown = CliRunner().invoke(command, [])
    assert shown.exit_code == 0
    assert "cpu " in shown.output
    assert "tpu:v5e-1x1" in shown.output
    found = json.loads(CliRunner().invoke(command, ["--output-format", "json"]).output)
    rows = {row["name"]: row for row in found["targets"]}
    assert rows["cpu"]["available"]
    assert rows["tpu:v5e-1x1"]["available"] == (importlib.util.find_spec("libtpu") is not None)
    assert all(row["detail"] for row in rows.values())
    packages = {row["name"]: row for row in found["kernels"]}
    assert packages["jax-triton"]["available"] == (importlib.util.find_spec("jax_triton") is not None)
    assert packages["tokamax"]["available"] or "pip install tokamax" in packages["tokamax"]["detail"]


def test_the_command_does_not_import_jax():
    code = "import sys, jaxlint.cli.targets as t; t.survey(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="needs the extra `tpu`")
def test_a_step_is_compiled_for_a_tpu_that_is_not_there():
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.helpers.training_programs import mlp_batch, mlp_parameters, mlp_step, optimiser, run
params = mlp_parameters(width=512)
results = run(mlp_step, params, optimiser.init(params), *mlp_batch(2048, 512), target="tpu:v5e-1x1")
remat = results["remat:nothing_saveable"]
assert remat.after.residual_bytes < remat.before.residual_bytes
donation = results["donation"]
assert donation.status == "compiled", donation
assert donation.after.peak_bytes < donation.before.peak_bytes
assert "nothing was run on it" in donation.evidence
assert donation.before.time_kind in (None, "compiler")
assert all(result.status != "verified" for result in results.values()), results
"""
    import os
    from pathlib import Path

    environment = {
        **os.environ,
        **parse("tpu:v5e-1x1").environment,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
