# source: jax-ml/jax#2660
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
from jax import lax


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {"w": jax.random.normal(k1, (10, 20)) * 0.3, "v": jax.random.normal(k2, (20, 1)) * 0.3}


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


tx = optax.adamw(1e-2, weight_decay=1e-3)


def diagnostics(params, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    hidden = jnp.tanh(x @ params["w"])
    return {
        "grad_norm": optax.global_norm(grads),
        "saturation": jnp.mean(jnp.abs(hidden) > 0.95),
        "param_norm": optax.global_norm(params),
    }


@jax.jit
def train_step(state, x, y):
    params, opt_state, step = state
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    report = lax.cond(  # finding-also
        step % 50 == 0,
        lambda p: diagnostics(p, x, y),  # finding-also
        lambda p: {},  # finding
        params,
    )
    return (params, opt_state, step + 1), (loss, report)


def main():
    k_x, k_w, k_p = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_x, (128, 10))
    y = jnp.sin(x @ jax.random.normal(k_w, (10, 1)))
    params = init_params(k_p)
    state = (params, tx.init(params), jnp.int32(0))
    for _ in range(200):
        state, (loss, report) = train_step(state, x, y)
        if report:
            print({k: float(v) for k, v in report.items()})
    print("final loss", float(loss))


if __name__ == "__main__":
    main()
