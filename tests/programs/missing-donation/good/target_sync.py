# blind: nineteenth

import functools

import jax
import jax.numpy as jnp

STATES, GAMMA = 8, 0.9


def transitions(key, n):
    k_s, k_a = jax.random.split(key)
    s = jax.random.randint(k_s, (n,), 0, STATES)
    a = jax.random.randint(k_a, (n,), 0, 2)
    nxt = jnp.clip(s + 2 * a - 1, 0, STATES - 1)
    return s, a, (nxt == STATES - 1).astype(jnp.float32), nxt


def td_loss(table, target, batch):
    s, a, r, nxt = batch
    goal = jax.lax.stop_gradient(r + GAMMA * target[nxt].max(axis=-1))
    return 0.5 * jnp.mean((table[s, a] - goal) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def update(table, target, key):
    grads = jax.grad(td_loss)(table, target, transitions(key, 256))
    return table - 8.0 * grads


def main():
    table = jnp.zeros((STATES, 2))
    target = jnp.copy(table)
    key = jax.random.key(0)
    for step in range(800):
        key, sub = jax.random.split(key)
        table = update(table, target, sub)
        if step % 10 == 0:
            target = jnp.copy(table)
    s = jnp.arange(STATES)[:, None]
    nxt = jnp.clip(s + 2 * jnp.arange(2) - 1, 0, STATES - 1)
    q = jnp.zeros((STATES, 2))
    q = jax.lax.fori_loop(0, 200, lambda _, q: (nxt == STATES - 1) + GAMMA * q.max(axis=1)[nxt], q)
    print("max error", float(jnp.abs(table - q).max()))


if __name__ == "__main__":
    main()
