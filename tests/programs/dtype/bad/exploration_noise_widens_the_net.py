# source: google/flax#3086
# blind: fourth

import equinox as eqx
import jax
import jax.numpy as jnp


class NoisyLinear(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    sigma: float = eqx.field(static=True)

    def __init__(self, n_in, n_out, sigma, dtype, *, key):
        self.weight = jax.random.normal(key, (n_out, n_in), dtype) / n_in
        self.bias = jnp.zeros(n_out, dtype)
        self.sigma = sigma

    def __call__(self, x, key):
        k1, k2 = jax.random.split(key)
        weight = self.weight + self.sigma * jax.random.normal(k1, self.weight.shape)  # finding
        bias = self.bias + self.sigma * jax.random.normal(k2, self.bias.shape)  # finding-also
        return weight @ x + bias


class QNetwork(eqx.Module):
    layers: list

    def __init__(self, sizes, dtype, *, key):
        keys = jax.random.split(key, len(sizes) - 1)
        self.layers = [
            NoisyLinear(a, b, 0.1, dtype, key=k) for a, b, k in zip(sizes[:-1], sizes[1:], keys)
        ]

    def __call__(self, x, key):
        for layer in self.layers:
            key, sub = jax.random.split(key)
            x = jax.nn.relu(layer(x, sub))
        return x


def main():
    net = QNetwork((8, 32, 4), jnp.bfloat16, key=jax.random.key(0))
    out = eqx.filter_jit(net)(jnp.ones(8, jnp.bfloat16), jax.random.key(1))
    print(out.dtype)


if __name__ == "__main__":
    main()
