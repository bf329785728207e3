# blind: ninth

import jax
import jax.numpy as jnp
import optax


class Plateau:
    def __init__(self, lr, patience):
        self.lr, self.patience = lr, patience
        self.history = []

    def observe(self, loss):
        self.history.append(loss.item())  # finding
        recent = self.history[-self.patience :]
        if len(recent) == self.patience and min(recent) >= recent[0]:
            self.lr *= 0.5


@jax.jit
def step(params, opt_state, lr, x, y):
    loss, grads = jax.value_and_grad(lambda p: optax.squared_error(x @ p, y).mean())(params)
    direction, opt_state = optax.scale_by_adam().update(grads, opt_state)
    return params - lr * direction, opt_state, loss


def train(params, data, steps):
    opt_state, plateau = optax.scale_by_adam().init(params), Plateau(1e-2, 10)
    for _ in range(steps):
        params, opt_state, loss = step(params, opt_state, plateau.lr, *data)
        plateau.observe(loss)  # finding-also
    return params


if __name__ == "__main__":
    print(train(jnp.ones(4), (jnp.ones((16, 4)), jnp.zeros(16)), 50))
