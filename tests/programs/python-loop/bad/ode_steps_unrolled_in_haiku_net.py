# blind: eighteenth

import haiku as hk
import jax
import jax.numpy as jnp
import optax

N_STEPS = 120
DT = 1.0 / N_STEPS


class VectorField(hk.Module):
    def __init__(self, width, name=None):
        super().__init__(name=name)
        self.width = width

    def __call__(self, x, t):
        t = jnp.broadcast_to(t, x.shape[:-1] + (1,))
        h = jnp.tanh(hk.Linear(self.width)(jnp.concatenate([x, t], -1)))
        return hk.Linear(x.shape[-1])(h)


def flow(x):
    field = VectorField(16)
    for i in range(N_STEPS):  # finding
        t = i * DT
        k1 = field(x, t)
        k2 = field(x + 0.5 * DT * k1, t + 0.5 * DT)
        x = x + DT * k2
    return x


net = hk.without_apply_rng(hk.transform(flow))


@jax.jit
def loss_fn(params, x, target):
    return optax.l2_loss(net.apply(params, x), target).mean()


def main():
    x = jax.random.normal(jax.random.key(0), (8, 2))
    params = net.init(jax.random.key(1), x)
    print(loss_fn(params, x, jnp.zeros_like(x)))


if __name__ == "__main__":
    main()
