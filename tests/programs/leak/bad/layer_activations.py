# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


class ProbedMLP:
    def __init__(self, key, sizes):
        keys = jax.random.split(key, len(sizes) - 1)
        self.params = [
            jax.random.normal(k, (m, n)) / m ** 0.5
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])
        ]
        self.recorded = []
        self._forward = jax.jit(self._forward_impl)  # finding-also

    def _forward_impl(self, params, x, y):
        acts = []
        h = x
        for w in params[:-1]:
            h = jax.nn.relu(h @ w)
            acts.append(h.mean())
        out = h @ params[-1]
        loss = jnp.mean((out[:, 0] - y) ** 2)
        self.recorded.extend(acts)  # finding
        return h, loss

    def evaluate(self, x, y):
        h, loss = self._forward(self.params, x, y)
        return loss

    def report(self):
        means = [float(v) for v in self.recorded]  # finding-also
        return {"layers": len(means), "mean_activation": sum(means) / len(means)}


def load(seed, n=128, d=10):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    y = np.tanh(x[:, 0] * x[:, 1]).astype(np.float32)
    return x, y


def main():
    model = ProbedMLP(jax.random.key(0), [10, 32, 32, 1])
    losses = []
    for seed in range(3):
        x, y = load(seed)
        losses.append(model.evaluate(x, y))
    print("losses", [float(v) for v in losses])
    print("probe", model.report())


if __name__ == "__main__":
    main()
