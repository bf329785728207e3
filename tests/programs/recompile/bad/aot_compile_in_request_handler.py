# source: jax-ml/jax#7733
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp
import numpy as np


def predict(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x


class Server:
    def __init__(self, params):
        self.params = params

    def handle(self, payload):
        x = jnp.asarray(payload)
        compiled = jax.jit(predict).lower(self.params, x).compile()  # finding
        return np.asarray(compiled(self.params, x))


def serve(server, requests):
    return [server.handle(r) for r in requests]


if __name__ == "__main__":
    s = Server([(jnp.ones((3, 3)), jnp.zeros(3))])
    print(serve(s, [np.ones((2, 3), np.float32)] * 3))
