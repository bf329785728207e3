# source: jax-ml/jax#24516
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


@jax.checkpoint
def activate(x, kind):
    if kind == "gelu":  # finding-also
        return jax.nn.gelu(x)
    return jax.nn.relu(x)


def loss(w, x, kind):
    return jnp.mean(activate(x @ w, kind) ** 2)  # finding


if __name__ == "__main__":
    print(jax.grad(loss)(jnp.ones((3, 3)), jnp.ones((2, 3)), "gelu"))
