# source: AI-Hypercomputer/maxtext#3924
# blind: ninth
# missed: the policy is chosen by a setting

from dataclasses import dataclass

import jax
import jax.numpy as jnp

POLICIES = {
    "full": jax.checkpoint_policies.everything_saveable,
    "dots": jax.checkpoint_policies.dots_saveable,
}


@dataclass(frozen=True)
class Config:
    remat: str = "full"
    width: int = 256


def layer(x, w):
    return x + jax.nn.gelu(x @ w), None


def forward(cfg, weights, x):
    body = jax.checkpoint(layer, policy=POLICIES[cfg.remat], prevent_cse=False)  # finding
    return jax.lax.scan(body, x, weights)[0]


@jax.jit
def gradient(weights, x):
    return jax.grad(lambda w: forward(Config(), w, x).sum())(weights)


if __name__ == "__main__":
    print(gradient(jnp.ones((24, 256, 256)) * 1e-3, jnp.ones((512, 256))).shape)
