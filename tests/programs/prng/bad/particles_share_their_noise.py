# blind: eleventh

"""One key for all rows of a vmap."""
import jax
import jax.numpy as jnp


def euler_maruyama(x0, key, drift, dt, steps):
    def body(x, k):
        x = x + drift(x) * dt + jnp.sqrt(dt) * jax.random.normal(k, x.shape)
        return x, x

    _, path = jax.lax.scan(body, x0, jax.random.split(key, steps))
    return path


def double_well(x):
    return x - x**3


class Ensemble:
    def __init__(self, drift, dt=0.01, steps=200):
        self.drift = drift
        self.dt = dt
        self.steps = steps

    def paths(self, key, starts):
        def one(x0, key):
            return euler_maruyama(x0, key, self.drift, self.dt, self.steps)

        return jax.vmap(one, in_axes=(0, None))(starts, key)  # finding


if __name__ == "__main__":
    ens = Ensemble(double_well)
    paths = ens.paths(jax.random.key(0), jnp.zeros((50, 2)))
    print(paths.std(0).max())
