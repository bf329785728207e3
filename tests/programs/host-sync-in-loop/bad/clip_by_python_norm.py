# source: deepmind/optax#288

import jax
import jax.numpy as jnp
import optax


@jax.jit
def compute_grads(params, batch):
    def loss(p):
        return jnp.mean((jnp.tanh(batch @ p["w"]) @ p["v"]) ** 2)

    return jax.grad(loss)(params)


@jax.jit
def apply(params, grads, scale):
    return jax.tree.map(lambda p, g: p - 0.1 * scale * g, params, grads)


def clip_scale(grads, max_norm):
    norm = float(optax.global_norm(grads))  # finding
    return min(1.0, max_norm / (norm + 1e-6))


def train(params, batches, max_norm=1.0):
    for batch in batches:
        grads = compute_grads(params, batch)
        params = apply(params, grads, clip_scale(grads, max_norm))  # finding-also
    return params


if __name__ == "__main__":
    print(train({"w": jnp.ones((3, 4)), "v": jnp.ones(4)}, [jnp.ones((5, 3))] * 6)["v"])
