"""What is left of a captured function when its process has ended: the same programs, donation stated again."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxlint_runtime.exported import artefacts, exporting
from jaxlint_runtime.exported.artefacts import NotExported
from jaxlint_runtime.exported.restored import Restored, RestoredProver
from jaxlint_runtime.inspection import cost
from jaxlint_runtime.lowering.function_versions import StagingError, capture
from jaxlint_runtime.model import JitOptions, Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.candidate_search import search
from jaxlint_runtime.proof.equivalence import identical
from jaxlint_runtime.proof.live_prover import LiveProver
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.protocol.worker_events import Device, Ready
from jaxlint_runtime.workers.measuring_server import Server
from tests.helpers.later import Later, given
from tests.helpers.training_programs import mlp_arguments, mlp_batch, mlp_loss, mlp_parameters, mlp_step


def left(folder, function, *arguments, options=None, **settings):
    """The program as it was captured, as it comes back, and what was told of it."""
    settings = Settings(**{"transforms": (), "measure": False, **settings})
    live = Reference(capture(function, *arguments, options=options), settings)
    told = exporting.leave(LiveProver(live), folder)
    return live, Restored(folder, artefacts.read(folder, told.digest), settings), told


@jax.tree_util.register_dataclass
@dataclass
class State:
    mean: jax.Array
    key: jax.Array


@jax.custom_vjp
def clipped(x):
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -0.5, 0.5),))


def random_step(state, x):
    key, noise = jax.random.split(state.key)
    mean = 0.9 * state.mean + 0.1 * (x + jax.random.normal(noise, x.shape)).mean(0)
    return State(mean, key), {"norm": jnp.linalg.norm(mean), "largest": jax.lax.top_k(mean, 2)}


def precise(x, y):
    return jnp.dot(x, y, precision="highest"), jnp.dot(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))


def looped(x, n):
    return jax.lax.fori_loop(0, n, lambda i, v: jnp.sin(v) + i, x)


def factors(x):
    values, vectors = jnp.linalg.eigh(x @ x.T)
    return values, jnp.abs(vectors), jnp.linalg.svd(x, compute_uv=False), x.astype(jnp.complex64) * 1j


X = np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)
CALLS = {
    "custom pytree and key": (
        random_step,
        (Later(lambda: State(jnp.ones(6), jax.random.key(3, impl="rbg"))), X),
        None,
    ),
    "custom derivative": (jax.grad(lambda x: clipped(jnp.sin(x)).sum()), (X,), None),
    "precision and dtypes": (precise, (X, X), None),
    "static argument": (looped, (X, 5), JitOptions(static_argnums=(1,))),
    "host numbers": (lambda x, s, n: x * s + n, (X, 2.0, 3), None),
    "LAPACK and complex": (factors, (X,), None),
    "integers": (lambda x: (x + 1, x > 2), (np.arange(5, dtype=np.int8),), None),
    "64 bits from the host": (lambda x: x.sum(0), (X.astype(np.float64),), None),
    "train step": (mlp_step, [Later(lambda n=n: mlp_arguments()[n]) for n in range(4)], None),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_bit_comes_back(tmp_path, name):
    function, arguments, options = CALLS[name]
    live, restored, _ = left(tmp_path, function, *given(arguments), options=options)
    assert identical(live.references[0], restored.references[0])
    for one, other in zip(live.references, restored.references, strict=True):  # the varied draws, too
        assert identical(one, other)
        assert (one.paths, one.groups, list(one.starts)) == (other.paths, other.groups, list(other.starts))
    before, after = cost(live.baseline), cost(restored.baseline)
    assert (before.flops, before.peak_bytes) == (after.flops, after.peak_bytes)
    assert restored.dtype == live.dtype
    places = [line for line in restored.baseline.text("hlo").splitlines() if line.endswith('.py"')]
    assert any(__file__ in line or "models.py" in line for line in places)


def test_donation_is_stated_again(tmp_path):
    options = JitOptions(donate_argnums=(1,))
    live, restored, told = left(
        tmp_path, mlp_step, *mlp_arguments(), options=options, transforms=("donation",)
    )
    assert [one.name for one in told.proposed["donation"]] == ["donation"]
    prover = RestoredProver(restored)
    given, all_given = restored.baseline, restored.stage(prover.plan(["donation"]).version)
    assert cost(given).peak_bytes == live.cost.peak_bytes
    assert "input_output_alias" in given.text("hlo").splitlines()[0]
    assert cost(all_given).peak_bytes < cost(given).peak_bytes
    result = prover.prove(("donation",), ())
    assert result.status is Status.COMPILED
    assert "the same bits" in result.evidence


def test_what_candidates_are_compared_with_is_computed_before_the_first(tmp_path):
    """The limit of a candidate follows from the time that the original took to begin, its values included."""
    _, restored, _ = left(tmp_path, mlp_step, *mlp_arguments(), transforms=("donation",))
    sent = []
    channel = SimpleNamespace(send=sent.append)
    Server(channel, None).take(RestoredProver(restored))
    assert [type(event) for event in sent] == [Device, Ready]
    assert "references" in restored.__dict__


def test_what_cannot_be_computed_here_is_said_of_each_candidate(tmp_path, monkeypatch):
    _, restored, _ = left(tmp_path, mlp_step, *mlp_arguments(), transforms=("donation",))

    def fail(*arguments):
        raise StagingError("does not compile")

    monkeypatch.setattr(type(restored), "outcome", fail)
    prover = RestoredProver(restored)
    prover.prepare()
    assert prover.prove(("donation",), ()).reason == "does not compile"


def test_gradients_and_double_precision_are_programs_of_their_own(tmp_path):
    arguments = mlp_parameters(), *mlp_batch()
    live, restored, _ = left(tmp_path, mlp_loss, *arguments, transforms=("bf16",), magnitudes=())
    prover, other = RestoredProver(restored), LiveProver(live)
    assert len(other.propose("bf16")) == 1
    plan, known = prover.plan(["bf16"]), other.plan(["bf16"])
    assert plan.emulated is not plan.version  # a CPU rounds and multiplies in float32
    values, gradients = restored.compared(plan.emulated, "bfloat16")
    expected, slopes = live.compared(known.emulated, "bfloat16")
    assert values == expected
    assert gradients.numerics.gradient_cosine == pytest.approx(slopes.numerics.gradient_cosine, rel=1e-6)
    # what keeps float32 is held against the program in float64
    restored.check(restored.original, "float32")
    live.check(live.original, "float32")
    assert restored.calibrated
    assert np.array_equal(restored._exacts[0].leaves[0], live._exacts[0].leaves[0])


def test_the_search_finds_the_same_in_what_was_left(tmp_path):
    settings = {"transforms": ("donation", "remat", "bf16", "kernels"), "magnitudes": ()}
    live, restored, told = left(tmp_path, mlp_step, *mlp_arguments(), **settings)
    provers = LiveProver(live), RestoredProver(restored)
    proposed = [name for name, found in told.proposed.items() if isinstance(found, list)]
    assert proposed == ["donation", "remat", "bf16"]
    provers[1].propose = told.proposed.__getitem__
    results = [
        {one.candidate: one for one in search(prover, settings["transforms"], None, lambda what: None)}
        for prover in provers
    ]
    assert results[0].keys() == results[1].keys()
    for name, one in results[0].items():
        other = results[1][name]
        assert (one.status, one.codemod, one.parameters) == (other.status, other.codemod, other.parameters)
        assert (one.numerics is None) == (other.numerics is None)
        assert "float64" not in one.evidence or "float64" in other.evidence


def test_a_version_that_cannot_be_staged_says_so_when_it_is_asked_for(tmp_path, monkeypatch):
    from jaxlint_runtime.transforms import TRANSFORMS

    def broken(self, program, candidate, version):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr(type(TRANSFORMS["bf16"]), "apply", broken)
    _, restored, told = left(tmp_path, mlp_loss, mlp_parameters(), *mlp_batch(), transforms=("bf16",))
    result = RestoredProver(restored).prove(("bf16",), ())
    assert result.status is Status.FAILED
    assert result.reason == "ZeroDivisionError: no such luck"
    assert told.refused == {}


def test_calls_of_foreign_code_are_exported():
    """Whatever the name of the code is quoted like; Python behind a call is not, since it ends with this process."""

    def foreign(x):
        for name in ("a_kernel", "a$kernel.of an odd name"):
            x = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        return x

    made = jax.export.deserialize(bytearray(exporting._exported(foreign, [X], "cpu")[1]))
    assert "a$kernel.of an odd name" in made.mlir_module()
    with pytest.raises(NotImplementedError, match="callback"):
        exporting._exported(lambda x: called_back(foreign(x)), [X], "cpu")


def called_back(x):
    return jax.pure_callback(lambda v: np.asarray(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@pytest.mark.parametrize(
    ("function", "options", "why"),
    [
        pytest.param(called_back, None, "it calls back into Python", id="callback"),
        pytest.param(lambda x: (jax.debug.print("{}", x[0, 0]), x + 1)[1], None, "Python", id="print"),
        pytest.param(
            lambda x: x + 1,
            JitOptions(others={"compiler_options": {}}),
            "jitted with compiler_options",
            id="options",
        ),
    ],
)
def test_what_cannot_be_exported_says_why(tmp_path, function, options, why):
    with pytest.raises(NotExported, match=why):
        left(tmp_path, function, X, options=options)


def test_an_original_that_cannot_be_traced_is_no_matter_of_exporting(tmp_path):
    with pytest.raises(StagingError, match="TracerBoolConversionError"):
        left(tmp_path, lambda x: x if x.sum() > 0 else -x, X)


def test_placements_are_those_of_the_same_devices():
    devices = jax.devices()
    mesh = Mesh(np.array(devices).reshape(1, -1), ("data", "model"))
    for one in (
        NamedSharding(mesh, PartitionSpec("data", None)),
        NamedSharding(mesh, PartitionSpec(("data", "model"))),
        jax.sharding.SingleDeviceSharding(devices[0]),
    ):
        assert artefacts.sharding(artefacts.placement(one), devices) == one
    with pytest.raises(NotExported, match="its inputs have a SimpleNamespace"):
        artefacts.placement(SimpleNamespace(memory_kind=None))


def test_the_content_is_that_of_programs_and_inputs_wherever_they_stand(tmp_path):
    """What the proof cache goes by: lines and names of files do not count, values and constants do."""
    source = "import jax.numpy as jnp\n{lines}def step(state, x):\n    return state + {factor} * jnp.sin(x)\n"

    def told(name, lines="", factor="0.5", value=1.0):
        names = {}
        exec(compile(source.format(lines=lines, factor=factor), str(tmp_path / f"{name}.py"), "exec"), names)
        (tmp_path / name).mkdir()
        found = left(
            tmp_path / name, names["step"], jnp.zeros(3), jnp.full(3, value), transforms=("donation",)
        )
        return found[2]

    first = told("a")
    assert first.content
    assert told("b", lines="\n\n").content == first.content
    assert [line for _, line in first.places] == [3]
    assert told("c", factor="0.25").content != first.content
    assert told("d", value=2.0).content != first.content


def test_a_record_that_another_wrote_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = left(tmp_path, lambda x: x + 1, jnp.ones(3))[2]
    (tmp_path / artefacts.RECORD).write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    with pytest.raises(artefacts.Unusable, match="is not what this run stored"):
        artefacts.read(tmp_path, told.digest)
    assert not (tmp_path / "ran").exists()


def test_devices_that_are_missing_are_said():
    place = artefacts.Placement((0, 3), (2,), ("data",), ("data",))
    with pytest.raises(artefacts.Unusable, match="its arrays lie on 4 devices, and there are 1"):
        artefacts.sharding(place, jax.devices()[:1])
