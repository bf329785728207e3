# blind: eighteenth

import jax
import jax.numpy as jnp


def init_ensemble(key, n_members, d_in, d_hidden):
    def one(k):
        k1, k2 = jax.random.split(k)
        return {
            "w1": jax.random.normal(k1, (d_in, d_hidden)) / d_in**0.5,
            "w2": jax.random.normal(k2, (d_hidden, 2)) / d_hidden**0.5,
        }

    return jax.vmap(one)(jax.random.split(key, n_members))


def member_forward(params, x):
    out = jnp.tanh(x @ params["w1"]) @ params["w2"]
    mean, log_var = jnp.split(out, 2, axis=-1)
    return mean, jnp.clip(log_var, -5.0, 2.0)


def ensemble_forward(params, x):
    return jax.vmap(member_forward)(params, x)  # finding


@jax.jit
def predict(params, x):
    mean, log_var = ensemble_forward(params, x)  # finding-also
    total_var = jnp.exp(log_var).mean(0) + mean.var(0)
    return mean.mean(0), total_var


if __name__ == "__main__":
    ensemble = init_ensemble(jax.random.key(0), 5, 4, 16)
    batch = jnp.ones((32, 4))
    print(predict(ensemble, batch))
