# source: google/maxtext#3924
# blind: first

import jax
import jax.numpy as jnp


def layer(x, w):
    return jnp.tanh(x @ w) * jax.nn.sigmoid(x @ w), None


def forward(ws, x):
    policy = jax.checkpoint_policies.everything_saveable  # finding-also
    body = jax.checkpoint(layer, policy=policy, prevent_cse=False)  # finding
    x, _ = jax.lax.scan(body, x, ws)
    return x


@jax.jit
def grads(ws, x):
    return jax.grad(lambda w: jnp.sum(forward(w, x)))(ws)


if __name__ == "__main__":
    print(grads(jnp.ones((6, 4, 4)), jnp.ones((2, 4))).shape)
