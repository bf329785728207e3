# source: patrick-kidger/equinox#186
# blind: second

import jax
import jax.numpy as jnp


class Probe:
    """Remembers what layers computed, by name."""

    def __init__(self):
        self.store = {}

    def tap(self, name, value):
        self.store.setdefault(name, []).append(value)  # finding
        return value


class Mlp:
    def __init__(self, sizes, key, probe):
        keys = jax.random.split(key, len(sizes) - 1)
        self.weights = [
            jax.random.normal(k, (n, m)) / n**0.5
            for k, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
        ]
        self.probe = probe

    def __call__(self, weights, x):
        for i, w in enumerate(weights):
            x = self.probe.tap(f"layer{i}", jnp.tanh(x @ w))  # finding-also
        return x


def main():
    probe = Probe()
    model = Mlp((4, 8, 2), jax.random.key(0), probe)
    forward = jax.jit(model.__call__)
    forward(model.weights, jnp.ones((3, 4)))
    for name, values in probe.store.items():
        print(name, jnp.stack(values).std())


if __name__ == "__main__":
    main()
