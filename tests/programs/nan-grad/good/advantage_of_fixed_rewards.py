# source: jax-ml/jax#11716
# blind: seventh

"""Group-relative policy optimisation: the rewards are data and no gradient goes through them."""

import jax
import jax.numpy as jnp
import numpy as np


def advantages(rewards):
    centred = rewards - rewards.mean(axis=-1, keepdims=True)
    return centred / (jnp.std(rewards, axis=-1, keepdims=True) + 1e-6)


def policy_loss(w, features, actions, advantage):
    log_p = jax.nn.log_softmax(features @ w)
    chosen = jnp.take_along_axis(log_p, actions[..., None], axis=-1)[..., 0]
    return -jnp.mean(chosen * advantage)


@jax.jit
def gradients(w, features, actions, rewards):
    advantage = advantages(rewards)
    return jax.value_and_grad(policy_loss)(w, features, actions, advantage)


def main():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(4, 8, 16)).astype(np.float32)
    actions = rng.integers(0, 3, (4, 8))
    rewards = np.ones((4, 8), np.float32)
    loss, grads = gradients(jnp.zeros((16, 3)), features, actions, rewards)
    print(loss, jnp.abs(grads).max())


if __name__ == "__main__":
    main()
