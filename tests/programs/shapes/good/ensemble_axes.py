# blind: nineteenth

import jax
import jax.numpy as jnp

MEMBERS = 5


def init_member(key):
    k1, k2 = jax.random.split(key)
    return {"w": 0.6 * jax.random.normal(k1, (3, 16)), "v": 0.3 * jax.random.normal(k2, (16,))}


def predict(variables, x):
    z = (x - variables["norm"]["mean"]) / variables["norm"]["std"]
    return jnp.tanh(z @ variables["params"]["w"]) @ variables["params"]["v"]


ensemble = jax.jit(jax.vmap(predict, in_axes=({"params": 0, "norm": None}, None)))


@jax.jit
def fit(params, norm, x, y, weights):
    def loss_fn(p, w):
        return jnp.mean(w * (predict({"params": p, "norm": norm}, x) - y) ** 2)

    def step(params, _):
        grads = jax.vmap(jax.grad(loss_fn))(params, weights)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), None

    return jax.lax.scan(step, params, None, length=150)[0]


def main():
    k_x, k_p, k_w = jax.random.split(jax.random.key(0), 3)
    x = 2.0 + jax.random.normal(k_x, (100, 3))
    y = jnp.sin(x[:, 0] - 2.0)
    norm = {"mean": x.mean(axis=0), "std": x.std(axis=0)}
    params = jax.vmap(init_member)(jax.random.split(k_p, MEMBERS))
    weights = jax.random.poisson(k_w, 1.0, (MEMBERS, 100)).astype(jnp.float32)
    params = fit(params, norm, x, y, weights)
    preds = ensemble({"params": params, "norm": norm}, x)
    print("rmse", float(jnp.sqrt(jnp.mean((preds.mean(0) - y) ** 2))), "spread", float(preds.std(0).mean()))


if __name__ == "__main__":
    main()
