# source: google-deepmind/optax#404
# blind: first

import jax
import jax.numpy as jnp
from tqdm import tqdm


def make_step(lr):
    def step(w, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - lr * g, loss

    return jax.jit(step, donate_argnums=0)


def train(w, loader, lr=0.1):
    step = make_step(lr)
    bar = tqdm(loader)
    for x in bar:
        w, loss = step(w, x)
        bar.set_postfix(loss=f"{loss:.4f}")  # finding
    return w


if __name__ == "__main__":
    train(jnp.ones(3), [jnp.ones((2, 3))] * 3)
