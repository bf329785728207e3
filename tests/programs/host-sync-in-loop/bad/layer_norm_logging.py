# source: jax-ml/jax#390
# blind: nineteenth
# missed: a loop of which the length costs less than a second

import time

import jax
import jax.numpy as jnp
import optax


def init_params(key, width, depth):
    keys = jax.random.split(key, depth)
    return {
        f"layer_{i}": {"w": jax.random.normal(k, (width, width)) * width ** -0.5, "b": jnp.zeros(width)}
        for i, k in enumerate(keys)
    }


def forward(params, x):
    for name in sorted(params):
        x = x + jnp.tanh(x @ params[name]["w"] + params[name]["b"])
    return x


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


tx = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, grads


def layer_norms(grads):
    flat, _ = jax.tree_util.tree_flatten_with_path(grads)
    return {jax.tree_util.keystr(path): float(jnp.linalg.norm(leaf)) for path, leaf in flat}  # finding


def main():
    k_p, k_x, k_y = jax.random.split(jax.random.key(0), 3)
    params = init_params(k_p, 32, 8)
    opt_state = tx.init(params)
    x = jax.random.normal(k_x, (64, 32))
    y = jnp.roll(x, 1, axis=1)
    params, opt_state, loss, grads = train_step(params, opt_state, x, y)
    history = [layer_norms(grads)]
    start = time.perf_counter()
    for step in range(400):
        params, opt_state, loss, grads = train_step(params, opt_state, x, y)
        history.append(layer_norms(grads))  # finding-also
        if step % 100 == 0:
            name, value = max(history[-1].items(), key=lambda kv: kv[1])
            print("step", step, "loss", float(loss), "largest gradient", name, round(value, 4))
    print("seconds", round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main()
