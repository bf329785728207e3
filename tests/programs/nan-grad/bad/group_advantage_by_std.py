# source: jax-ml/jax#11716
# blind: seventh

"""Group-relative policy optimisation on a bandit: rewards of one group may all be equal."""

import jax
import jax.numpy as jnp
import optax


def normalised_returns(returns):
    centred = returns - returns.mean(axis=-1, keepdims=True)
    return centred / (jnp.std(returns, axis=-1, keepdims=True) + 1e-6)  # finding


def critic_loss(w, features, targets):
    predicted = features @ w
    return jnp.mean((normalised_returns(predicted) - targets) ** 2)


def main():
    features = jax.random.normal(jax.random.key(0), (4, 8, 16))
    targets = jax.random.normal(jax.random.key(1), (4, 8))
    w = jnp.zeros(16)
    optimizer = optax.sgd(1e-2)
    state = optimizer.init(w)

    @jax.jit
    def step(w, state):
        loss, grads = jax.value_and_grad(critic_loss)(w, features, targets)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(w, updates), state, loss

    for _ in range(3):
        w, state, loss = step(w, state)
    print(w, loss)


if __name__ == "__main__":
    main()
