# blind: eighteenth

import equinox as eqx
import jax
import jax.numpy as jnp


def make_member(key):
    return eqx.nn.MLP(4, 2, 16, depth=1, key=key)


def member_forward(model, x):
    mean, log_var = jnp.split(jax.vmap(model)(x), 2, axis=-1)
    return mean[..., 0], jnp.clip(log_var[..., 0], -5.0, 2.0)


@eqx.filter_jit
def predict(ensemble, x):
    forward = eqx.filter_vmap(member_forward, in_axes=(eqx.if_array(0), None))
    mean, log_var = forward(ensemble, x)
    total = jnp.exp(log_var).mean(axis=0) + mean.var(axis=0)
    return mean.mean(axis=0), total


def attention_pool(x, query):
    """x: [batch, seq, dim], query: [heads, dim]."""
    scores = jnp.einsum("bsd,hd->bhs", x, query) / x.shape[-1] ** 0.5
    return jnp.einsum("bhs,bsd->bhd", jax.nn.softmax(scores, axis=-1), x)


def main():
    ensemble = eqx.filter_vmap(make_member)(jax.random.split(jax.random.key(0), 5))
    x = jnp.ones((32, 4))
    mean, var = predict(ensemble, x)
    print(mean.shape, var.shape)
    print(attention_pool(jnp.ones((2, 7, 8)), jnp.ones((3, 8))).shape)


if __name__ == "__main__":
    main()
