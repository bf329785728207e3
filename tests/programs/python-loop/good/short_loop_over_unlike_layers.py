# blind: eighteenth

import haiku as hk
import jax
import jax.numpy as jnp


def encoder(x):
    for width in (32, 16, 8):
        x = jax.nn.relu(hk.Linear(width)(x))
    return hk.Linear(2)(x)


net = hk.without_apply_rng(hk.transform(encoder))


def energy(params, sample):
    z = net.apply(params, sample)
    return jnp.sum(z**2)


@jax.jit
def batch_energy(params, batch):
    return jax.vmap(energy, in_axes=(None, 0))(params, batch)


@jax.jit
def integrate(params, x0, dt=0.05):
    force = jax.grad(lambda x: -energy(params, x))

    def body(_, x):
        return x + dt * force(x)

    return jax.lax.fori_loop(0, 200, body, x0)


def main():
    key_init, key_x = jax.random.split(jax.random.key(0))
    batch = jax.random.normal(key_x, (64, 5))
    params = net.init(key_init, batch[0])
    for name, group in params.items():
        print(name, {k: v.shape for k, v in group.items()})
    print(batch_energy(params, batch).mean(), integrate(params, batch[0]))


if __name__ == "__main__":
    main()
