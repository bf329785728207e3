# blind: eighteenth

import jax
import jax.numpy as jnp


class MLP:
    def __init__(self, sizes, seed=0):
        keys = jax.random.split(jax.random.key(seed), len(sizes) - 1)
        self.params = [
            jax.random.normal(k, (i, o)) / i**0.5 for k, i, o in zip(keys, sizes[:-1], sizes[1:])
        ]
        self.calls = 0

    @staticmethod
    @jax.jit
    def _forward(params, x):
        activations = []
        stats = {}
        for depth, w in enumerate(params):
            x = jax.nn.relu(x @ w)
            activations.append(x)
            stats[f"dead_{depth}"] = jnp.mean(x == 0)
        jax.debug.print("output norm {n}", n=jnp.linalg.norm(x))
        return x, activations, stats

    def __call__(self, x):
        self.calls += 1
        return self._forward(self.params, x)


def main():
    net = MLP((4, 16, 16, 2))
    history = []
    for scale in (0.5, 1.0):
        _, acts, stats = net(scale * jnp.ones((3, 4)))
        history.append(stats)
        print("activations:", [a.shape for a in acts])
    print(net.calls, jax.device_get(history))


if __name__ == "__main__":
    main()
