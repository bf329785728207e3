# blind: nineteenth

import time

import jax
import jax.numpy as jnp
import optax


def init_lora(key, dim, rank, layers):
    keys = jax.random.split(key, layers)
    return [
        {"a": jax.random.normal(k, (dim, rank)) * 0.02, "b": jnp.zeros((rank, dim)), "scale": jnp.ones(())}
        for k in keys
    ]


def frozen_weights(key, dim, layers):
    return [jax.random.normal(k, (dim, dim)) * dim ** -0.5 for k in jax.random.split(key, layers)]


def forward(lora, base, x):
    for w, p in zip(base, lora):
        delta = (x @ p["a"]) @ p["b"] * p["scale"]
        x = x + jax.nn.gelu(x @ w + delta)
    return x


@jax.jit
def loss_and_grad(lora, base, x, y):
    def loss_fn(p):
        return jnp.mean((forward(p, base, x) - y) ** 2)

    return jax.value_and_grad(loss_fn)(lora)


schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 10, 100)
tx = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.scale_by_adam(),
    optax.add_decayed_weights(1e-4),
    optax.scale_by_learning_rate(schedule),
)


def fit(lora, base, x, y, steps):  # finding-also
    opt_state = tx.init(lora)
    for step in range(steps):
        loss, grads = loss_and_grad(lora, base, x, y)  # finding-also
        updates, opt_state = tx.update(grads, opt_state, lora)  # finding
        lora = optax.apply_updates(lora, updates)  # finding-also
    return lora, loss


def main():
    k_lora, k_base, k_x = jax.random.split(jax.random.key(0), 3)
    base = frozen_weights(k_base, 48, 4)
    lora = init_lora(k_lora, 48, 4, 4)
    x = jax.random.normal(k_x, (64, 48))
    y = forward(lora, base, x) + 0.5 * jnp.flip(x, axis=1)
    fit(lora, base, x, y, 2)
    start = time.perf_counter()
    lora, loss = fit(lora, base, x, y, 100)
    print("loss", float(loss), "seconds", round(time.perf_counter() - start, 3))


if __name__ == "__main__":
    main()
