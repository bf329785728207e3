# source: jax-ml/jax#18049
# blind: nineteenth
# missed: tuples of sizes as trees

import functools

import jax
import jax.numpy as jnp

SHAPES = {
    "embed": (64, 32),
    "mixer": {"token": (16, 16), "channel": (32, 32)},
    "head": (32, 10),
}


def allocate(shapes, fill):
    return jax.tree.map(lambda s: jnp.full(s, fill), shapes)  # finding


def kaiming(key, shapes):
    leaves, treedef = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s, tuple))
    keys = jax.random.split(key, len(leaves))
    return treedef.unflatten(
        [jax.random.normal(k, s) * s[0] ** -0.5 for k, s in zip(keys, leaves)]
    )


def mixer(params, tokens):
    x = params["embed"][tokens]
    x = x + jnp.tanh(jnp.einsum("btd,ts->bsd", x, params["mixer"]["token"]))
    x = x + jnp.tanh(x @ params["mixer"]["channel"])
    return x.mean(axis=1) @ params["head"]


def loss_fn(params, tokens, labels):
    logp = jax.nn.log_softmax(mixer(params, tokens))
    return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))


@functools.partial(jax.jit, static_argnames=("lr", "mu"))
def momentum_step(params, velocity, tokens, labels, lr=0.1, mu=0.9):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    velocity = jax.tree.map(lambda v, g: mu * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - lr * v, params, velocity)
    return params, velocity, loss


def main():
    k_par, k_tok = jax.random.split(jax.random.key(0))
    params = kaiming(k_par, SHAPES)
    velocity = allocate(SHAPES, 0.0)  # finding-also
    tokens = jax.random.randint(k_tok, (32, 16), 0, 64)
    labels = tokens[:, 0] % 10
    for _ in range(30):
        params, velocity, loss = momentum_step(params, velocity, tokens, labels)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
