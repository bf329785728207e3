# blind: seventeenth

"""Fit a linear model by many steps inside one scan."""
import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-2)


def init(key, din=64, width=512):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (din, width)) / 8.0,
        "w2": jax.random.normal(k2, (width, 1)) / 22.0,
    }


def loss_fn(params, x, y):
    pred = jnp.tanh(x @ params["w1"]) @ params["w2"]
    return jnp.mean((pred[:, 0] - y) ** 2)


@jax.jit
def train(params, xs, ys):
    def step(carry, batch):
        params, opt_state = carry
        x, y = batch
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        return (params, opt_state), (params, loss)  # finding-also

    carry = (params, optimizer.init(params))
    _, (history, losses) = jax.lax.scan(step, carry, (xs, ys))  # finding
    final = jax.tree.map(lambda p: p[-1], history)  # finding-also
    return final, losses


def main():
    kp, kx, kw = jax.random.split(jax.random.key(0), 3)
    xs = jax.random.normal(kx, (200, 32, 64))
    ys = xs @ jax.random.normal(kw, (64,))
    params, losses = train(init(kp), xs, ys)
    print("first", losses[0], "last", losses[-1])


if __name__ == "__main__":
    main()
