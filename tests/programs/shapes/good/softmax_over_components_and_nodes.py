# blind: seventeenth

"""Soft clustering: responsibilities over components, pooling over nodes."""
import jax
import jax.numpy as jnp
import optax


def init(key, components=4, dim=2):
    return {
        "logits": jnp.zeros(components),
        "means": jax.random.normal(key, (components, dim)),
        "pool": jnp.ones(dim),
    }


def responsibilities(params, x):
    sq = jnp.sum((params["means"][:, None, :] - x[None]) ** 2, axis=-1)
    joint = jax.nn.log_softmax(params["logits"])[:, None] - 0.5 * sq
    return jax.nn.softmax(joint, axis=0), jax.nn.logsumexp(joint, axis=0)


def attention_pool(params, nodes):
    weights = jax.nn.softmax(nodes @ params["pool"], axis=0)
    return weights @ nodes


def loss_fn(params, x):
    _, log_density = responsibilities(params, x)
    return -log_density.mean() + 1e-3 * jnp.sum(attention_pool(params, x) ** 2)


@jax.jit
def update(params, opt_state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    updates, opt_state = optax.adam(1e-2).update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    kp, kx = jax.random.split(jax.random.key(0))
    x = jax.random.normal(kx, (200, 2))
    params = init(kp)
    opt_state = optax.adam(1e-2).init(params)
    for _ in range(50):
        params, opt_state, loss = update(params, opt_state, x)
    resp, _ = responsibilities(params, x)
    print(loss, resp.sum(axis=0)[:3])


if __name__ == "__main__":
    main()
