# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
from jax import lax

tx = optax.adamw(1e-2)


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def diagnostics(params, x):
    hidden = jnp.tanh(x @ params["w"])
    return {"norm": optax.global_norm(params), "saturation": jnp.mean(jnp.abs(hidden))}


def blank(params, x):
    return {"norm": jnp.float32(0.0), "saturation": jnp.float32(0.0)}


@jax.jit
def train(params, x, y):
    def step(carry, i):
        params, opt_state = carry
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        params = optax.apply_updates(params, updates)
        report = lax.cond(i % 25 == 0, diagnostics, blank, params, x)
        return (params, opt_state), (loss, report)

    return lax.scan(step, (params, tx.init(params)), jnp.arange(100))


def main():
    k_x, k_w, k_v = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (64, 6))
    y = jnp.sin(x[:, :1])
    params = {"w": 0.4 * jax.random.normal(k_w, (6, 16)), "v": 0.2 * jax.random.normal(k_v, (16, 1))}
    _, (losses, report) = train(params, x, y)
    print("loss", float(losses[0]), "->", float(losses[-1]), "norms", report["norm"][::25].tolist())


if __name__ == "__main__":
    main()
