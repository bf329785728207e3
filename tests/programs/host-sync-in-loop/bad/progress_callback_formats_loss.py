# source: AI-Hypercomputer/maxdiffusion#81
# blind: fourth

import sys

import jax
import jax.numpy as jnp


class Callback:
    def on_step_end(self, step, logs):
        pass


class ProgressLine(Callback):
    def __init__(self, total):
        self.total = total

    def on_step_end(self, step, logs):
        sys.stderr.write(f"\r{step}/{self.total} loss {logs['loss']:.4f}")  # finding


@jax.jit
def train_step(params, x, noise):
    def loss_fn(p):
        return jnp.mean((jnp.tanh(x @ p) - noise) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return params - 1e-2 * grads, {"loss": loss}


class Loop:
    def __init__(self, params, callbacks):
        self.params = params
        self.callbacks = callbacks

    def run(self, loader):
        for step, (x, noise) in enumerate(loader):
            self.params, logs = train_step(self.params, x, noise)
            for callback in self.callbacks:
                callback.on_step_end(step, logs)  # finding-also
        return self.params


def loader(n):
    for i in range(n):
        yield jnp.ones((4, 4)) * i, jnp.zeros((4, 4))


if __name__ == "__main__":
    loop = Loop(jnp.eye(4), [ProgressLine(30)])
    print(loop.run(loader(30)).sum())
