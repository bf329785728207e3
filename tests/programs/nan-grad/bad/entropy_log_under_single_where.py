# source: jax-ml/jax#5798
# blind: eighteenth

import jax
import jax.numpy as jnp


def routing_probs(logits, mask):
    z = jnp.where(mask, logits, -jnp.inf)
    z = z - jax.lax.stop_gradient(z.max(axis=-1, keepdims=True))
    e = jnp.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def entropy(p):
    plogp = jnp.where(p > 0, p * jnp.log(p), 0.0)  # finding
    return -plogp.sum(axis=-1)


def expert_output(params, x):
    return jnp.einsum("bd,edh->beh", x, params["experts"])


def moe_loss(params, x, y, mask, ent_coef=1e-2):
    p = routing_probs(x @ params["router"], mask)
    pred = jnp.einsum("be,beh->bh", p, expert_output(params, x))
    return jnp.mean((pred - y) ** 2) - ent_coef * entropy(p).mean()


def main():
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    params = {
        "router": jax.random.normal(k1, (6, 4)),
        "experts": jax.random.normal(k2, (4, 6, 3)) * 0.3,
    }
    x = jax.random.normal(k3, (8, 6))
    mask = jnp.array([True, True, True, False])
    loss, grads = jax.value_and_grad(moe_loss)(params, x, x[:, :3], mask)
    print(loss, jnp.isnan(grads["router"]).any())


if __name__ == "__main__":
    main()
