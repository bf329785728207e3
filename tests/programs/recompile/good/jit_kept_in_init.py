# source: jax-ml/jax#2519
# blind: first

import functools

import jax
import jax.numpy as jnp


class Model:
    def __init__(self, w, lr):
        self.w = w
        self._step = jax.jit(functools.partial(self._update, lr=lr), donate_argnums=0)

    @staticmethod
    def _update(w, x, *, lr):
        return w - lr * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

    def fit(self, batches):
        for x in batches:
            self.w = self._step(self.w, x)
        return self


@functools.cache
def compiled_for(n_layers):
    return jax.jit(lambda x: functools.reduce(lambda h, _: jnp.tanh(h), range(n_layers), x))


def serve(requests):
    return [compiled_for(2)(r) for r in requests]


if __name__ == "__main__":
    Model(jnp.ones(3), 0.1).fit([jnp.ones((2, 3))] * 3)
    serve([jnp.ones(3)] * 2)
