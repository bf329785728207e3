# source: jax-ml/jax#11357
# blind: second
# missed: devices of arrays are not followed

import jax
import jax.numpy as jnp


class PipelineStage:
    def __init__(self, key, size, device):
        self.device = device
        weights = jax.random.normal(key, (size, size)) / size**0.5
        self.weights = jax.device_put(weights, device)

    def __call__(self, x):
        return jnp.tanh(x @ self.weights)  # finding


class Pipeline:
    def __init__(self, key, size, count):
        devices = jax.devices()
        keys = jax.random.split(key, count)
        self.stages = [
            PipelineStage(k, size, devices[i % len(devices)]) for i, k in enumerate(keys)
        ]

    def run(self, x):
        x = jax.device_put(x, self.stages[0].device)
        for stage in self.stages:
            x = stage(x)  # finding-also
        return x


if __name__ == "__main__":
    print(Pipeline(jax.random.key(0), 8, 4).run(jnp.ones((2, 8))))
