# source: jax-ml/jax#3051
# blind: first

import jax
import jax.numpy as jnp


def batch_norm(x, axis_name="batch", eps=1e-5):
    mean = jax.lax.pmean(x.mean(0), axis_name)  # finding
    var = jax.lax.pmean(((x - mean) ** 2).mean(0), axis_name)
    return (x - mean) / jnp.sqrt(var + eps)


@jax.jit
def forward(params, x):  # finding-also
    return batch_norm(x @ params)  # finding-also


if __name__ == "__main__":
    print(forward(jnp.eye(3), jnp.ones((4, 3))))
