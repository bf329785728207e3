# source: jax-ml/jax#9672
# blind: eighth

import jax
import jax.numpy as jnp


class Kalman:
    def __init__(self, transition, noise):
        self.transition = transition
        self.noise = noise
        self.predict = jax.jit(self._predict)

    def _predict(self, mean, cov):
        return self.transition @ mean, self.transition @ cov @ self.transition.T + self.noise


def track(model, mean, cov, steps):
    history = []
    for _ in range(steps):
        mean, cov = model.predict(mean, cov)
        history.append(mean)
    return jnp.stack(history)


if __name__ == "__main__":
    model = Kalman(jnp.array([[1.0, 0.1], [0.0, 1.0]]), 0.01 * jnp.eye(2))
    print(track(model, jnp.zeros(2), jnp.eye(2), 5))
