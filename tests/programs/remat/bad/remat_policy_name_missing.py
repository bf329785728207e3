# source: AI-Hypercomputer/maxtext#3924
# blind: first

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name


def mlp(params, x):
    h = checkpoint_name(x @ params["up"], "mlp_up")
    return jax.nn.gelu(h) @ params["down"]


policy = jax.checkpoint_policies.save_only_these_names("mlp_hidden")  # finding
remat_mlp = jax.checkpoint(mlp, policy=policy)


def loss(params, x):
    return jnp.mean(remat_mlp(params, x) ** 2)


if __name__ == "__main__":
    params = {"up": jnp.ones((4, 8)), "down": jnp.ones((8, 4))}
    print(jax.grad(loss)(params, jnp.ones((2, 4)))["up"].shape)
