"""`jaxlint verify --mesh`, from the command line to the report, on simulated devices."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import verify

STEP = """
    import jax, jax.numpy as jnp
    import numpy as np

    def loss(params, x, y):
        h = jax.nn.relu(x @ params["up"] + params["bias"])
        return ((h @ params["down"] - y) ** 2).mean()

    @jax.jit
    def step(params, x, y):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))

    draw = np.random.default_rng(0)
    make = lambda *shape: draw.normal(size=shape).astype(np.float32)
"""
MLP = (
    STEP
    + """
    params = {"up": make(32, 256), "bias": make(256), "down": make(256, 32)}
    for _ in range(3):
        params = step(params, make(16, 32), make(16, 32))
"""
)
ODD = (
    STEP
    + """
    params = {"up": make(5, 7), "bias": make(7), "down": make(7, 3)}
    for _ in range(3):
        params = step(params, make(9, 5), make(9, 3))
"""
)
CONSTRAINED = MLP.replace(
    '@ params["up"] + params["bias"])',
    '@ params["up"] + params["bias"])\n        h = jax.lax.with_sharding_constraint(h, at)',
).replace(
    "    def loss(",
    """    from jax.sharding import NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((2, 4), ("rows", "columns"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    at = NamedSharding(mesh, P("rows", "columns"))

    def loss(""",
)
EXPERTS = """
    import jax, jax.numpy as jnp
    import numpy as np

    def mixture(params, x):
        expert = (x @ params["router"]).argmax(-1)
        mask = jax.nn.one_hot(expert, 8)
        slot = jax.nn.one_hot((jnp.cumsum(mask, 1) * mask).sum(-1).astype(int) - 1, 8)
        dispatch = mask[..., None] * slot[:, :, None, :]
        inputs = jnp.einsum("btec,btd->ebcd", dispatch, x)
        h = jax.nn.relu(jnp.einsum("ebcd,edf->ebcf", inputs, params["up"]))
        out = jnp.einsum("ebcf,efd->ebcd", h, params["down"])
        return jnp.einsum("btec,ebcd->btd", dispatch, out)

    @jax.jit
    def step(params, x):
        gradient = jax.grad(lambda p: (mixture(p, x) ** 2).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)

    draw = np.random.default_rng(0)
    make = lambda *shape: draw.normal(size=shape).astype(np.float32) * 0.1
    params = {"router": make(32, 8), "up": make(8, 32, 256), "down": make(8, 256, 32)}
    for _ in range(3):
        params = step(params, make(16, 32, 32))
"""
MAPPED = """
    import functools
    import jax, jax.numpy as jnp
    import numpy as np

    def loss(params, x, y):
        return ((jax.nn.relu(x @ params["up"]) @ params["down"] - y) ** 2).mean()

    @functools.partial(jax.pmap, axis_name="batch")
    def step(params, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        gradient = jax.lax.pmean(gradient, "batch")
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient), jax.lax.pmean(value, "batch")

    @functools.partial(jax.pmap, axis_name="batch")
    def centred(params, x, y):
        value = loss(params, x - x.mean(0), y)
        return jax.lax.pmean(value, axis_name="batch")

    draw = np.random.default_rng(0)
    make = lambda *shape: draw.normal(size=shape).astype(np.float32)
    n = jax.local_device_count()
    params = {"up": make(32, 256) * 0.1, "down": make(256, 32) * 0.1}
    params = jax.tree.map(lambda p: jnp.stack([p] * n), params)
    for _ in range(4):
        x, y = make(n, 4, 32), make(n, 4, 32)
        params, _ = step(params, x, y)
        centred(params, x, y)
"""
OWN = (
    STEP
    + """
    from jax.sharding import NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    at = lambda *spec: NamedSharding(mesh, P(*spec))
    params = {"up": make(32, 256), "bias": make(256), "down": make(256, 32)}
    params = jax.device_put(params, {"up": at(None, "model"), "bias": at("model"), "down": at("model")})
    for _ in range(3):
        batch = jax.device_put((make(16, 32), make(16, 32)), at("data"))
        params = step(params, *batch)
"""
)


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "pyproject.toml").touch()
    (folder / "train.py").write_text(textwrap.dedent(source))
    return verify(folder, "-q", "--calls", "2", "--timing", "8", *arguments, "train.py", timeout=300)


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found["runs"][0]


def by_name(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    assert run["sharding"], run["results"]
    return {one["name"]: one for one in run["sharding"][0]["placements"]}


def test_an_mlp_on_simulated_devices(tmp_path: Path) -> None:
    found = report_of(run(tmp_path, MLP, "--mesh", "data=4,model=2", "--output-format", "json"))
    sharding, placements = found["sharding"][0], by_name(found)
    assert sharding["function"] == "step"
    assert sharding["path"] == "train.py"
    plain, tensor = placements["data parallel"], placements["tensor parallel"]
    assert plain["score"] == pytest.approx(2)
    # Three products of 2 x 4 x 32 x 256 FLOP (the gradient by the inputs is not needed) and one more for the hidden layer.
    assert 4 * 2 * 4 * 32 * 256 * 0.9 < plain["flops"] < 4 * 2 * 4 * 32 * 256 * 1.6
    assert tensor["flops"] < 0.7 * plain["flops"]
    # A ring of 4 sends 2 * 3/4 of the gradients, which are as large as the parameters: 32*256 + 256 + 256*32 floats.
    assert plain["sent_bytes"] == pytest.approx(1.5 * 4 * (2 * 32 * 256 + 256), rel=0.02)
    assert set(plain["sent_by_axes"]) == {"data"}
    assert "model" in tensor["sent_by_axes"]
    best = min(one["score"] for one in placements.values() if one["score"] is not None)
    chosen = next(one for one in placements.values() if one["chosen"])
    assert chosen["score"] == best < 2
    assert sharding["values_problem"] is None
    result = found["results"][0]
    assert (result["candidate"], result["status"], result["codemod"]) == ("sharding", "verified", None)
    assert result["numerics"]["passed"]
    assert result["after"]["peak_bytes"] == chosen["peak_bytes"]
    assert "no time was measured" in result["evidence"]
    assert "    step,\n    in_shardings=(params_at, " in sharding["code"]


def test_jobs_find_the_same_placement(tmp_path: Path) -> None:
    arguments = ("--mesh", "data=2", "--timing", "900", "--output-format", "json")
    alone = report_of(run(tmp_path, MLP, *arguments))
    jobs = report_of(run(tmp_path, MLP, *arguments, "--workers", "local:2"))
    assert alone["sharding"][0]["tried"] > 5
    assert jobs["sharding"] == alone["sharding"]
    assert jobs["results"] == alone["results"]


def test_the_report_for_people(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = run(tmp_path, MLP, "--mesh", "data=2", "--html", str(page))
    assert done.returncode == 0, done.stderr
    for text in (
        "on the mesh data=2, simulated CPU devices",
        "data parallel",
        "found:",
        "values: agree with one device",
    ):
        assert text in done.stdout
    assert "simulated CPU devices" in page.read_text(encoding="utf-8")


def test_what_does_not_divide_is_told_and_nothing_is_claimed(tmp_path: Path) -> None:
    found = report_of(run(tmp_path, ODD, "--mesh", "data=4,model=2", "--output-format", "json"))
    assert any("batch of 9" in line for line in found["sharding"][0]["advice"])
    assert found["results"][0]["status"] == "rejected"
    assert "no placement tried beats" in found["results"][0]["reason"]


def test_a_program_with_a_mesh_of_its_own_is_one_of_the_placements(tmp_path: Path) -> None:
    found = report_of(run(tmp_path, OWN, "--mesh", "data=4,model=2", "--output-format", "json"))
    placements = by_name(found)
    own, tensor = placements["as in the program"], placements["tensor parallel"]
    assert own["sent_bytes"] == tensor["sent_bytes"]
    assert own["peak_bytes"] == tensor["peak_bytes"]
    assert not own["chosen"]


def test_a_mixture_of_experts_sends_its_tokens(tmp_path: Path) -> None:
    """Experts on the devices of the data axis: tokens go to them and back by an all-to-all."""
    found = report_of(run(tmp_path, EXPERTS, "--mesh", "data=4", "--timing", "30", "--output-format", "json"))
    placements, sharding = by_name(found), found["sharding"][0]
    expert = placements["expert parallel over the data axis"]
    assert expert["sent_by_kind"]["all-to-all"] > 0
    assert expert["sent_bytes"] < 0.8 * placements["data parallel"]["sent_bytes"]
    assert sharding["title"].startswith("expert parallelism")
    assert {one["line"] for one in sharding["activations"]} <= set(range(1, 30))
    assert "with_sharding_constraint(" in sharding["code"]
    assert found["results"][0]["status"] == "verified"


def test_pmap_is_brought_to_jit_where_its_values_stay(tmp_path: Path) -> None:
    found = report_of(run(tmp_path, MAPPED, "--mesh", "data=4", "--output-format", "json"))
    results = {one["function"]: one for one in found["results"]}
    step = next(one for one in found["sharding"] if one["function"] == "step")
    told = "\n".join(step["advice"])
    assert results["step"]["status"] == "verified"
    assert "jax.jit of the function over whole arrays computes the same" in told
    assert "remove pmean and psum over 'batch' (line 12, line 13" in told
    assert "in_specs=(P(), P('batch'), P('batch'))" in told
    assert "FSDP" in {one["name"] for one in step["placements"]}  # parameters are seen to come back updated
    assert "in_shardings=(params_at, NamedSharding(mesh, P('data'))" in step["code"]
    # Each device centres its own part of the batch: only shard_map keeps that.
    assert results["centred"]["status"] == "failed"
    assert "the results differ" in results["centred"]["reason"]
    assert "keeps the collectives and computes the same as pmap" in results["centred"]["reason"]


def test_constraints_over_another_mesh_are_left_out_and_told(tmp_path: Path) -> None:
    found = report_of(run(tmp_path, CONSTRAINED, "--mesh", "data=4,model=2", "--output-format", "json"))
    assert any("constraints over columns, rows" in line for line in found["sharding"][0]["advice"])
    assert found["sharding"][0]["values_problem"] is None
    assert by_name(found)["data parallel"]["reason"] is None


def test_a_program_that_sets_its_own_number_of_devices_is_told_so(tmp_path: Path) -> None:
    source = "import os\nos.environ['XLA_FLAGS'] = ''\n" + textwrap.dedent(MLP)
    found = report_of(run(tmp_path, source, "--mesh", "data=4,model=2", "--output-format", "json"))
    assert found["sharding"] == []
    assert "needs 8 devices, and 1 are there" in found["results"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--mesh", "data:4"], "write the axes of the mesh as NAME=SIZE"),
        (["--mesh", "data=0"], "each axis needs at least 1"),
        (["--mesh", "data=4,model=2", "--target", "tpu:v5e-2x2"], "needs 8 devices, and tpu:v5e-2x2 has 4"),
        (["--mesh", "data=2", "--target", "abacus"], "unknown target 'abacus'"),
        (["--mesh", "data=2", "--target", "gpu"], "not gpu"),
        (["--mesh", "data=2", "--transform", "remat"], "leave out --transform"),
        (["--mesh", "data=2", "--apply"], "leave out --apply"),
        (["--mesh", "data=2", "--save", "costs.json"], "excludes --save and --compare"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = run(tmp_path, "raise SystemExit(9)", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
