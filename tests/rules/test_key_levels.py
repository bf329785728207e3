"""When a key that is used twice is a warning: the repeated numbers are seen to meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from jaxlint_rules.random.key_reuse import KeyReuse

_CROPS = """
import jax

@jax.jit
def augment(key, images):
    keys = jax.random.split(key, images.shape[0])
    return jax.vmap(lambda key, image: image + jax.random.normal(key, image.shape))(keys, images)

def outer(key, images):
    return inner(key, images)

def inner(key, images):
    return augment(key, images)
"""
_ONCE = """
def batch(key, images):
    order = jax.random.permutation(key, len(images))
    return CALLED(key, images[:8]), order
"""
_LOOP = """
def batches(key, images):
    for start in range(0, 1024, 8):
        yield CALLED(key, images[start : start + 8])
"""


@pytest.mark.parametrize(
    ("use", "called", "severity"),
    [
        (_ONCE, "augment", Severity.WARNING),  # a jitted function that splits the key itself
        (_ONCE, "outer", Severity.INFO),  # something that draws far inside
        (_LOOP, "augment", Severity.WARNING),
        (_LOOP, "outer", Severity.WARNING),  # each iteration repeats the numbers
    ],
)
def test_numbers_that_meet_are_a_warning(use: str, called: str, severity: Severity) -> None:
    text = _CROPS + use.replace("CALLED", called)
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


_SAMPLES = """
import jax, wandb

def train(rng, steps, params):
    rngs = jax.random.split(rng, 8)
    for step in range(steps):
        rngs, params = update(rngs, params)
        if step % 100 == 0:
            rng, sample_key = jax.random.split(rng)
            z = jax.random.normal(sample_key, (1, 100))
            image = generate(params, z)
            image = (image + 1) / 2
            USE
    return params
"""


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("wandb.log({'sample': wandb.Image(image)})", Severity.INFO),
        ("params = refine(params, image)", Severity.WARNING),
        ("wandb.log({'sample': wandb.Image(image)}); seen.append(image)", Severity.WARNING),
        ("print(image)", Severity.WARNING),
    ],
)
def test_numbers_that_end_in_pictures_are_advice(use: str, severity: Severity) -> None:
    source = source_from_bytes(_SAMPLES.replace("USE", use).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


_RENEWED = """
import jax

def draw(key, mean):
    BODY

def body(carry, t):
    key, x = carry
    key, other = jax.random.split(key)
    x = draw(key, x)
    return (key, x + jax.random.uniform(other)), x

def roll(key, x, ts):
    return jax.lax.scan(body, (key, x), ts)
"""


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("return jax.random.normal(key) + mean", Severity.INFO),  # draws, and `split` renews the key
        ("a, b = jax.random.split(key)\n    return jax.random.normal(a) + mean", Severity.WARNING),
    ],
)
def test_a_call_that_only_draws_repeats_no_split(body: str, severity: Severity) -> None:
    source = source_from_bytes(_RENEWED.replace("BODY", body).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


_PRICES = """
import jax
import jax.numpy as jnp

def price(key, rho):
    return jnp.mean(jnp.exp(rho * jax.random.normal(key, (1000,))))

def noise(key):
    return jax.random.uniform(key, (3,))

def main(key, x):
    USE

main(jax.random.key(0), jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("print(price(key, 0.1)); print(price(key, 0.3))", Severity.INFO),
        ("low = price(key, 0.1); high = price(key, 0.3); assert high > low", Severity.INFO),
        (
            "low = price(key, 0.1); high = price(key, 0.3); ok = high > low; print(ok, high - low)",
            Severity.INFO,
        ),
        ("low = price(key, 0.1); high = price(key, 0.3); return (high + low) / 2", Severity.WARNING),
        ("low = price(key, 0.1); return [low, price(key, 0.3)]", Severity.WARNING),
        ("p = {}; p['low'] = price(key, 0.1); p['high'] = price(key, 0.3); return p", Severity.WARNING),
        ("ps = []; ps.append(price(key, 0.1)); ps.append(price(key, 0.3)); return ps", Severity.WARNING),
        ("y = x * noise(key); x = x + jax.random.normal(key, (3,)); return x @ y", Severity.WARNING),
        (
            "y = noise(key)\n    def loss(z): return z * y\n    z = price(key, 0.1); return loss(z)",
            Severity.WARNING,
        ),
        # two draws of equal numbers, whose difference is zero
        (
            "a = jax.random.normal(key, (3,)); b = jax.random.normal(key, (3,)); return a - b",
            Severity.WARNING,
        ),
        ("low = price(key, 0.1); high = price(key, 0.3)", Severity.WARNING),  # what reads them is not seen
    ],
)
def test_results_that_stay_apart_are_advice(use: str, severity: Severity) -> None:
    source = source_from_bytes(_PRICES.replace("USE", use).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


_DERIVED = """
import jax

def keys_of(key):
    return jax.random.split(key, 3)

def noise(key):
    return jax.random.normal(key, (3,))

def step(key, x):
    USE
"""


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        (
            "y = x + noise(key); a, b, c = keys_of(key); print(y); return a",
            Severity.INFO,
        ),  # no number repeats
        ("y = x + noise(key); a, b, c = keys_of(key); return y, a", Severity.INFO),
        ("y = x + noise(key); keys = keys_of(key); return jax.vmap(noise)(keys) + y", Severity.WARNING),
        (
            "keys = keys_of(key); y = x + noise(key); return y, keys",
            Severity.WARNING,
        ),  # the parent by mistake
        ("a = keys_of(key); b = jax.random.split(key); return a, b", Severity.WARNING),  # keys repeat
    ],
)
def test_a_draw_before_a_split_repeats_nothing(use: str, severity: Severity) -> None:
    source = source_from_bytes(_DERIVED.replace("USE", use).encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [severity]


@pytest.mark.parametrize(
    "imported",
    [
        "import jax.random as random",
        "from jax import random as draws",
        "from jax.random import normal, split as divide",
    ],
)
def test_functions_of_jax_random_are_known_by_any_name(imported: str) -> None:
    normal, split = {
        "random": ("random.normal", "random.split"),
        "draws": ("draws.normal", "draws.split"),
        "divide": ("normal", "divide"),
    }[imported.rpartition(" ")[2]]
    text = f"{imported}\n\ndef step(key, x):\n    y = x + {normal}(key, (3,))\n    key, _ = {split}(key)\n    return y, key\n"
    source = source_from_bytes(text.encode(), Path("program.py"), "program.py")
    assert [one.severity for one in analyze([source], [KeyReuse()]).findings] == [Severity.INFO]
