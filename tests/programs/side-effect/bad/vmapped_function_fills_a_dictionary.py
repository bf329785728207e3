# source: jax-ml/jax#13022
# blind: eighth

import jax
import jax.numpy as jnp


class Probe:
    def __init__(self):
        self.activations = {}

    def layer(self, name, w, x):
        h = jax.nn.relu(x @ w)
        self.activations[name] = h  # finding
        return h


def forward(probe, weights, x):
    for i, w in enumerate(weights):
        x = probe.layer(f"layer{i}", w, x)
    return x


if __name__ == "__main__":
    probe = Probe()
    weights = [jnp.eye(4)] * 3
    out = jax.vmap(lambda row: forward(probe, weights, row))(jnp.ones((5, 4)))
    print({k: jnp.mean(v) for k, v in probe.activations.items()})  # finding-also
