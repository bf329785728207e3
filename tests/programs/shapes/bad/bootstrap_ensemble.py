# source: jax-ml/jax#18548
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax

MEMBERS = 6


def init_member(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (3, 24)) * 0.6,
        "b1": jnp.zeros(24),
        "w2": jax.random.normal(k2, (24,)) * 0.2,
    }


def member_predict(variables, x):
    z = (x - variables["norm"]["mean"]) / variables["norm"]["std"]
    h = jnp.tanh(z @ variables["params"]["w1"] + variables["params"]["b1"])
    return h @ variables["params"]["w2"]


def member_loss(params, norm, x, y, weight):
    pred = member_predict({"params": params, "norm": norm}, x)
    return jnp.mean(weight * (pred - y) ** 2)


tx = optax.adam(1e-2)


@jax.jit
def fit_step(params, opt_state, norm, x, y, weights):
    def one(p, s, w):
        loss, g = jax.value_and_grad(member_loss)(p, norm, x, y, w)
        updates, s = tx.update(g, s)
        return optax.apply_updates(p, updates), s, loss

    return jax.vmap(one)(params, opt_state, weights)


ensemble_predict = jax.vmap(member_predict, in_axes={"params": 0, "norm": None})  # finding


def main():
    k_data, k_init, k_boot = jax.random.split(jax.random.key(0), 3)
    x = 3.0 + 2.0 * jax.random.normal(k_data, (200, 3))
    y = jnp.sin(x[:, 0]) + 0.3 * x[:, 1]
    norm = {"mean": x.mean(0), "std": x.std(0)}
    params = jax.vmap(init_member)(jax.random.split(k_init, MEMBERS))
    opt_state = jax.vmap(tx.init)(params)
    weights = jax.random.poisson(k_boot, 1.0, (MEMBERS, 200)).astype(jnp.float32)
    for _ in range(200):
        params, opt_state, loss = fit_step(params, opt_state, norm, x, y, weights)
    preds = ensemble_predict({"params": params, "norm": norm}, x)  # finding-also
    print("loss", float(loss.mean()), "epistemic std", float(preds.std(axis=0).mean()))


if __name__ == "__main__":
    main()
