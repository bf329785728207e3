# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def init(key, d_in, n_classes):
    return {"w": 0.1 * jax.random.normal(key, (d_in, n_classes)), "b": jnp.zeros(n_classes)}


def logits(params, x):
    """x: [batch, d_in] -> [batch, n_classes]."""
    return x @ params["w"] + params["b"]


def cross_entropy(params, x, labels):
    logp = jax.nn.log_softmax(logits(params, x), axis=0)  # finding
    picked = jnp.take_along_axis(logp, labels[:, None], axis=1)
    return -picked.mean()


def accuracy(params, x, labels):
    return jnp.mean(jnp.argmax(logits(params, x), axis=-1) == labels)


@functools.partial(jax.jit, donate_argnums=0, static_argnames="lr")
def step(params, x, labels, lr=0.5):
    grads = jax.grad(cross_entropy)(params, x, labels)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def main():
    k_x, k_p = jax.random.split(jax.random.key(0))
    x = jax.random.normal(k_x, (128, 5))
    labels = jnp.argmax(x[:, :3], axis=-1)
    params = init(k_p, 5, 3)
    for _ in range(20):
        params = step(params, x, labels)
    probs = jnp.exp(jax.nn.log_softmax(logits(params, x), axis=-1))
    print(accuracy(params, x, labels), probs.sum(axis=-1)[:3])


if __name__ == "__main__":
    main()
