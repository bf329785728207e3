# blind: twenty-first

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax


class Ema(NamedTuple):
    average: Any
    count: jax.Array


def start(params):
    wide = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
    return Ema(wide, jnp.zeros((), jnp.int32))


def accumulate(ema, params, decay=0.999):
    average = jax.tree.map(
        lambda a, p: decay * a + (1.0 - decay) * p.astype(jnp.float32),
        ema.average, params)
    return Ema(average, ema.count + 1)


def debiased(ema, decay=0.999):
    scale = 1.0 - decay ** ema.count.astype(jnp.float32)
    return jax.tree.map(lambda a: a / scale, ema.average)


def noisy_weights(key, true):
    leaves, treedef = jax.tree.flatten(true)
    keys = jax.random.split(key, len(leaves))
    noisy = [(l + 0.1 * jax.random.normal(k, l.shape)).astype(jnp.bfloat16)
             for l, k in zip(leaves, keys)]
    return jax.tree.unflatten(treedef, noisy)


@jax.jit
def run(key, true, ema):
    def body(ema, key_t):
        return accumulate(ema, noisy_weights(key_t, true)), None

    ema, _ = jax.lax.scan(body, ema, jax.random.split(key, 2000))
    return ema


def main():
    true = {"w": jnp.linspace(-1.0, 1.0, 32), "b": jnp.ones((4,))}
    ema = run(jax.random.key(0), true, start(noisy_weights(jax.random.key(1), true)))
    estimate = debiased(ema)
    error = optax.global_norm(jax.tree.map(jnp.subtract, estimate, true)) / 6.0
    print("steps", int(ema.count), "rms error", float(error))
    assert float(error) < 0.02


if __name__ == "__main__":
    main()
