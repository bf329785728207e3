# source: jax-ml/jax#15545
# blind: first

import jax
import jax.numpy as jnp

best = {"loss": float("inf")}


@jax.jit
def step(w, x):
    loss, grads = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)

    def remember(value):
        best["loss"] = min(best["loss"], float(value))  # finding-also

    remember(loss)  # finding
    return w - 0.1 * grads


if __name__ == "__main__":
    print(step(jnp.zeros(3), jnp.ones((4, 3))), best)
