# source: patrick-kidger/equinox#746
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


class FourierFeatures(eqx.Module):
    weight: jax.Array
    freqs: jax.Array = eqx.field(static=True)  # finding

    def __init__(self, dim, n, *, key):
        kw, kf = jax.random.split(key)
        self.weight = jax.random.normal(kw, (2 * n, 1))
        self.freqs = jax.random.normal(kf, (dim, n))  # finding-also

    def __call__(self, x):
        z = x @ self.freqs
        return jnp.concatenate([jnp.sin(z), jnp.cos(z)]) @ self.weight


@eqx.filter_jit
def predict(model, x):
    return jax.vmap(model)(x)


if __name__ == "__main__":
    print(predict(FourierFeatures(2, 4, key=jax.random.key(0)), jnp.ones((3, 2))))
