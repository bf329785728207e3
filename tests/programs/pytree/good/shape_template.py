# blind: nineteenth

import jax
import jax.numpy as jnp

SHAPES = {"embed": (32, 16), "mix": [(16, 16), (16, 16)], "head": (16, 4)}


def is_shape(node):
    return isinstance(node, tuple)


def zeros(shapes):
    return jax.tree.map(jnp.zeros, shapes, is_leaf=is_shape)


def kaiming(key, shapes):
    leaves, treedef = jax.tree.flatten(shapes, is_leaf=is_shape)
    keys = jax.random.split(key, len(leaves))
    return treedef.unflatten([jax.random.normal(k, s) * s[0] ** -0.5 for k, s in zip(keys, leaves)])


def logits_fn(params, tokens):
    x = params["embed"][tokens].mean(axis=1)
    for w in params["mix"]:
        x = x + jnp.tanh(x @ w)
    return x @ params["head"]


@jax.jit
def momentum_step(params, velocity, tokens, labels):
    def loss_fn(p):
        logp = jax.nn.log_softmax(logits_fn(p, tokens))
        return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree.map(lambda p, v: p - 0.05 * v, params, velocity)
    return params, velocity, loss


def main():
    k_p, k_t = jax.random.split(jax.random.key(0))
    params, velocity = kaiming(k_p, SHAPES), zeros(SHAPES)
    tokens = jax.random.randint(k_t, (64, 3), 0, 32)
    labels = tokens[:, 0] % 4
    for _ in range(80):
        params, velocity, loss = momentum_step(params, velocity, tokens, labels)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
