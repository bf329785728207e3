"""Block sizes by the time that they take on the device at hand: a clock that the kernels themselves advance, and a kernel interpreted here."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.pallas import tpu as pltpu

from jaxlint_runtime.kernels.implementations import attention_choices, pallas_flash
from jaxlint_runtime.kernels.implementations.block_size_tuning import Tuned, Tuner
from jaxlint_runtime.kernels.substitute import matches
from jaxlint_runtime.targets import parse
from jaxlint_runtime.transforms.attention_kernels import Kernels, _key


class Clock:
    """Tells the time that kernels say they took."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def kernel(self, seconds: float):
        """A function that takes so long."""

        def wait(x):
            self.now += seconds
            return x

        return lambda x: jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ({"target": 4e-3, "small": 5e-3, "large": 3e-3}, "large"),
        ({"target": 4e-3, "small": 5e-3, "large": 3.98e-3}, None),  # no more than noise can fake
        ({"target": 4e-3, "small": 4e-3}, None),
    ],
)
def test_sizes_of_the_target_stay_unless_others_are_clearly_faster(seconds, chosen):
    clock = Clock()
    tuned = Tuner(clock).best(
        "key", list(seconds), lambda each: clock.kernel(seconds[each]), lambda: [jnp.ones(3)]
    )
    assert tuned.blocks == chosen
    assert tuned.milliseconds == pytest.approx({each: 1e3 * value for each, value in seconds.items()})
    assert tuned.told() == f", {chosen or 'target'}, of {len(seconds)} block sizes timed here"


def test_what_does_not_run_is_left_out_and_nothing_is_timed_twice():
    clock, made = Clock(), []

    def make(each):
        made.append(each)
        if each == "huge":
            raise_it = ValueError("out of fast memory\nand more")
            return lambda x: (_ for _ in ()).throw(raise_it)
        return clock.kernel({"target": 2e-3, "small": 1e-3}[each])

    tuner, sizes = Tuner(clock), ["target", "huge", "small"]
    tuned = tuner.best("key", sizes, make, lambda: [jnp.ones(3)])
    assert (tuned.blocks, tuned.refused) == ("small", {"huge": "ValueError: out of fast memory"})
    assert tuner.best("key", sizes, make, lambda: [jnp.ones(3)]) is tuned
    assert made == sizes
    assert (tuner.known("key"), tuner.known("another")) == ("small", None)


def test_where_the_arguments_do_not_fit_the_sizes_of_the_target_stay():
    def none():
        raise MemoryError("no room")

    tuned = Tuner().best("key", ["target", "small"], lambda each: lambda x: x, none)
    assert (tuned.blocks, tuned.refused["target"], tuned.told()) == (None, "MemoryError: no room", "")


def test_an_attention_is_computed_with_the_sizes_that_were_found(monkeypatch):
    def attention(q, k, v):
        weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v)

    generator = np.random.default_rng(0)
    given = [jnp.asarray(generator.normal(size=(1, 1, 256, 16)), jnp.float32) for _ in range(3)]
    (layout,) = matches(jax.make_jaxpr(attention)(*given)).all_layouts()
    program = SimpleNamespace(target=parse("tpu"), differentiates=True)
    choice = next(each for each in attention_choices.choices(program.target) if each.name == "jaxlint_flash")
    monkeypatch.setattr(pallas_flash, "SIZES", (pallas_flash.Blocks(256, 256), pallas_flash.Blocks(128, 128)))
    transform = Kernels()
    with pltpu.force_tpu_interpret_mode():
        tuned = transform._tuned(program, choice, layout)
    assert set(tuned.milliseconds) == set(pallas_flash.SIZES)
    transform._tuner._known[_key(program, choice, layout)] = Tuned(pallas_flash.Blocks(128, 128))
    seen = []
    plain = pallas_flash.attention

    def noted(operands, spec, blocks):
        seen.append(blocks)
        return plain(operands, spec, blocks)

    monkeypatch.setattr(pallas_flash, "attention", noted)
    version = SimpleNamespace(function=attention, options=None)
    candidate = SimpleNamespace(parameters={"implementation": "jaxlint_flash"})
    with pltpu.force_tpu_interpret_mode():
        found = transform.apply(program, candidate, version).function(*given)
    assert seen == [pallas_flash.Blocks(128, 128)]
    np.testing.assert_allclose(found, attention(*given), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["cpu", "tpu:v5e-1x1"])
def test_without_an_accelerator_nothing_is_timed(name):
    program = SimpleNamespace(target=parse(name))
    for choice in attention_choices.choices(parse("tpu:v5e-1x1")):
        assert Kernels()._tuned(program, choice, None) == Tuned()
