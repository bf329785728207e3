"""Example arguments for functions: from a file, from annotations, from a module's own initialiser."""

# ruff: noqa: F722, F821, UP037 - shapes are written as strings
from __future__ import annotations

import textwrap
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx
from jaxtyping import Array, BFloat16, Bool, Float, Int, Key, PyTree

from jaxlint_runtime.inputs import jaxtyping_shapes
from jaxlint_runtime.inputs.dimensions import Dimensions, NoExample
from jaxlint_runtime.inputs.drawn_values import any_shapes, drawn, finite
from jaxlint_runtime.inputs.example_calls import is_jitted
from jaxlint_runtime.inputs.framework_modules import forward
from jaxlint_runtime.protocol.jobs import Capture, Examples, Launch, Until
from jaxlint_runtime.request import CannotRun, Request, validate
from tests.helpers.worker_runs import Outcome, run_job


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("batch length", (32, 8)),
        ("batch 2*length+1 3", (32, 17, 3)),
        ("... batch", (32,)),
        ("*batch length", (32, 8)),
        ("*other length", (8,)),
        ("#batch n=4", (32, 4)),
        ("batch//2 {length}", None),
        ("", ()),
    ],
)
def test_a_shape_in_words(text: str, shape: tuple[int, ...] | None) -> None:
    dims = Dimensions({"batch": 32, "length": 8})
    if shape is None:
        with pytest.raises(NoExample, match="not understood"):
            dims.shape(text, "x")
    else:
        assert dims.shape(text, "x") == shape


def test_a_dimension_without_a_size_and_a_size_without_a_dimension() -> None:
    dims = Dimensions({"batch": 32, "heads": 2})
    with pytest.raises(NoExample, match=r"'width' of x has no size; set it with --dim width=N"):
        dims.shape("batch width", "x")
    assert dims.unused() == ["heads"]


class Batch(NamedTuple):
    x: Float[Array, "batch width"]
    y: Int[Array, " batch"]


def test_shapes_of_annotations() -> None:
    def f(
        batch: Batch,
        mask: Bool[Array, "batch"] | None,
        half: tuple[BFloat16[Array, "width 2"], Float[np.ndarray, ""]],
        key: Key[Array, ""],
        rate: float = 0.1,
        *,
        scale: Float[Array, "width"],
    ) -> None: ...

    assert jaxtyping_shapes.is_annotated(f)
    args, kwargs = jaxtyping_shapes.arguments(f, Dimensions({"batch": 4, "width": 3}))
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves((args, kwargs))]
    assert shapes[:5] == [
        ((4, 3), "float32"),
        ((4,), "int32"),
        ((4,), "bool"),
        ((3, 2), "bfloat16"),
        ((), "float32"),
    ]
    assert isinstance(args[0], Batch)
    values = drawn((args, kwargs), seed=0)
    assert not any_shapes(values)
    assert jax.random.normal(values[0][3]).shape == ()


def test_annotations_that_say_too_little_are_refused() -> None:
    def tree(params: PyTree[Float[Array, "n"]], x: Float[Array, "n"]) -> None: ...

    def bare(params, x: Float[Array, "n"]) -> None: ...  # type: ignore[no-untyped-def]

    def plain(x: int) -> None: ...

    dims = Dimensions({"n": 2})
    with pytest.raises(NoExample, match=r"params.*has no shape"):
        jaxtyping_shapes.arguments(tree, dims)
    with pytest.raises(NoExample, match="params has no annotation"):
        jaxtyping_shapes.arguments(bare, dims)
    assert not jaxtyping_shapes.is_annotated(plain)


def test_what_is_drawn_keeps_products_in_bounds_and_integers_in_range() -> None:
    shapes = {
        "w": jax.ShapeDtypeStruct((400, 400), jnp.float32),
        "i": jax.ShapeDtypeStruct((100,), jnp.int8),
        "c": jax.ShapeDtypeStruct((50,), jnp.complex64),
        "k": jax.eval_shape(lambda: jax.random.split(jax.random.key(0, impl="rbg"), 3)),
        "kept": 3,
    }
    values = drawn(shapes, seed=1)
    assert 0.9 < float(jnp.std(values["w"] @ jnp.ones(400))) < 1.1
    assert set(np.asarray(values["i"]).tolist()) == {0, 1}
    assert float(jnp.std(values["c"].imag)) > 0.5
    assert values["k"].shape == (3,)
    assert values["k"].dtype == shapes["k"].dtype
    assert values["kept"] == 3
    assert float(drawn(shapes, seed=1, positive=True)["w"].min()) >= 0.0
    assert not finite({"a": jnp.log(jnp.array([-1.0]))})


class Normed(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = True) -> jax.Array:
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(self.width)(x))
        return nn.Dropout(0.5, deterministic=not train)(x)


class OwnInit(Normed):
    def init(self, key: jax.Array) -> object:  # type: ignore[override]
        return super().init(key, jnp.ones((1, 3)), False)


def test_modules_are_called_with_variables_of_their_own_initialiser() -> None:
    x = jax.ShapeDtypeStruct((8, 3), jnp.float32)
    for value in (Normed, Normed(5)):
        found = forward(value, (x,), {"train": True})
        assert found is not None
        function, args = found
        out, changed = jax.jit(function)(*drawn(args, seed=0))
        assert out.shape == (8, 4 if value is Normed else 5)
        assert set(changed) == {"batch_stats"}
        assert function.__wrapped__ is Normed.__call__  # type: ignore[attr-defined]

    def mlp(x: jax.Array) -> jax.Array:
        return hk.nets.MLP([4, 2])(x)

    for transformed in (
        hk.transform(mlp),
        hk.transform_with_state(mlp),
        hk.without_apply_rng(hk.transform(mlp)),
    ):
        found = forward(transformed, (x,), {})
        assert found is not None
        function, args = found
        assert jax.tree.leaves(jax.jit(function)(*drawn(args, seed=0)))[0].shape == (8, 2)
        assert function.__wrapped__ is mlp  # type: ignore[attr-defined]

    # inputs by name, and an initialiser of the module's own
    for value in (Normed(), OwnInit()):
        found = forward(value, (), {"x": x, "train": False})
        assert found is not None
        function, args = found
        assert jax.jit(function)(*drawn(args, seed=0))[0].shape == (8, 4)

    assert forward(lambda x: x, (x,), {}) is None
    with pytest.raises(NoExample, match="cannot be initialised"):
        forward(Normed(), (jax.ShapeDtypeStruct((), jnp.float32),), {})


def test_what_is_jitted() -> None:
    assert is_jitted(jax.jit(lambda x: x))
    assert is_jitted(eqx.filter_jit(lambda x: x))
    assert is_jitted(nnx.jit(lambda x: x))
    assert not is_jitted(jax.custom_vjp(lambda x: x))
    assert not is_jitted(lambda x: x)
    assert not is_jitted(jax.jit)
    assert not is_jitted(Normed())


PROGRAM = """
    import jax, jax.numpy as jnp, equinox as eqx
    from flax import linen as nn, nnx
    from jaxtyping import Array, Float

    print("imported as", __name__)

    @jax.jit
    def update(state, sample):
        return state + 0.1 * (sample - state)

    @jax.jit
    def annotated(x: Float[Array, "batch 3"]):
        return jnp.sqrt(x).sum()

    @jax.jit
    def not_annotated(x): return x

    def plain(x, name, train): return x * 2 if train else x

    class Model(nn.Module):
        @nn.compact
        def __call__(self, x): return nn.Dense(2)(x)

    @nnx.jit
    def nnx_step(model, x): return model(x).sum()

    class Net(eqx.Module):
        layer: eqx.nn.Linear
        act: callable = jax.nn.relu
        def loss(self, x): return self.act(jax.vmap(self.layer)(x)).sum()

    @jax.jit
    def fails(x): return x + undefined

    if __name__ == "__main__":
        raise SystemExit("it was run")
"""

EXAMPLES = """
    import equinox as eqx
    import jax
    import numpy as np
    from flax import nnx
    from program import Net, nnx_step

    def shape(*sizes):
        return jax.ShapeDtypeStruct(sizes, "float32")

    def update(batch=4, width=2):
        return shape(batch, width), np.ones((batch, width), np.float32)

    EXAMPLES = {
        "plain": lambda batch: {"x": shape(batch), "name": "a", "train": True},
        "Model": lambda batch: shape(batch, 3),
        nnx_step: (nnx.eval_shape(lambda: nnx.Linear(3, 2, rngs=nnx.Rngs(0))), shape(5, 3)),
        "Net.loss": lambda batch: (Net(eqx.filter_eval_shape(eqx.nn.Linear, 3, 2, key=jax.random.key(0))), shape(batch, 3)),
        "fails": shape(1),
        "jnp.sin": shape(2),
    }
"""


def called(folder: Path, examples: str | None, **dims: int) -> Outcome:
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    if examples is not None:
        (folder / "examples.py").write_text(textwrap.dedent(examples))
    file = None if examples is None else str(folder / "examples.py")
    launch = Launch("script", str(folder / "program.py"), roots=(str(folder),), examples=Examples(file, dims))
    return run_job(Capture(launch, until=Until(calls=None)), folder)


def test_functions_are_called_with_examples_and_the_program_is_not_run(tmp_path: Path) -> None:
    outcome = called(tmp_path, EXAMPLES, batch=6, heads=2)
    assert b"imported as program" in outcome.output
    assert outcome.ending["status"] == 0, outcome.output
    assert "only imported" in outcome.ending["message"]
    found = {name: function for name, function in outcome.functions.items() if function["calls"]}
    assert set(found) == {
        "update",
        "annotated",
        "plain",
        "Model.__call__",
        "nnx_step",
        "Net.loss",
    }
    for name, function in found.items():
        assert function["calls"] == 3
        assert len(function["compiles"]) == 1, name
        assert function["refused"] is None
        assert function["rebound"] is None  # examples do not show it
    assert found["update"]["captured_bytes"] == 2 * 4 * 6 * 2
    assert found["annotated"]["captured_bytes"] == 4 * 6 * 3
    assert (
        found["annotated"]["captured_call"] == 3
    )  # the first drew negative numbers, which have no square root
    problems = outcome.captured["problems"]
    assert [line.partition(":")[0] for line in problems] == [
        "fails",
        "jnp.sin",
        "--dim heads",
    ]
    assert "undefined" in problems[0]
    assert "is not defined in the program's own files" in problems[1]


def test_annotations_alone_and_dimensions_that_are_missing(tmp_path: Path) -> None:
    outcome = called(tmp_path, None, batch=2)
    assert {name for name, f in outcome.functions.items() if f["calls"]} == {"annotated"}
    missing = called(tmp_path, None, length=2)
    assert missing.ending["status"] == 1
    assert any(
        "'batch' of x has no size; set it with --dim batch=N" in p for p in missing.captured["problems"]
    )


def test_an_examples_file_without_examples_names_the_functions(tmp_path: Path) -> None:
    outcome = called(tmp_path, "def helper(): return 1\n")
    assert outcome.ending["status"] == 1
    assert "update" in outcome.captured["problems"][0]
    outcome = called(tmp_path, "EXAMPLES = {'upd': 1}\n")
    assert "has no such function" in outcome.captured["problems"][0]


def test_what_cannot_be_asked_for_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotRun, match="the examples file of --inputs"):
        validate(Request(kind="script", target="program.py", inputs="nowhere.py"))
    with pytest.raises(CannotRun, match="name the program"):
        validate(Request(kind="pytest", target="pytest", dims={"batch": 1}))
    with pytest.raises(CannotRun, match="leave out --inputs"):
        validate(Request(kind="script", target="program.py", dims={"batch": 1}, transforms=("source",)))
