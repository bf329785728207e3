# source: jax-ml/jax#9675
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
import optax


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(k, (m, n)) * m ** -0.5, "b": jnp.zeros(n)}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def mlp(params, x):
    for layer in params[:-1]:
        x = jax.nn.leaky_relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


tx = optax.adam(1e-3, b1=0.5)


def critic_loss(disc, gen, real, z):
    fake = mlp(gen, z)
    return jnp.mean(jax.nn.softplus(-mlp(disc, real))) + jnp.mean(jax.nn.softplus(mlp(disc, fake)))


def generator_loss(gen, disc, z):
    return jnp.mean(jax.nn.softplus(-mlp(disc, mlp(gen, z))))


@functools.partial(jax.jit, donate_argnums=(0, 1))  # finding-also
def critic_step(disc, opt_state, gen, real, z):
    loss, grads = jax.value_and_grad(critic_loss)(disc, gen, real, z)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(disc, updates), opt_state, loss


@functools.partial(jax.jit, donate_argnums=(0, 1))
def generator_step(gen, opt_state, disc, z):
    loss, grads = jax.value_and_grad(generator_loss)(gen, disc, z)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(gen, updates), opt_state, loss


def main():
    key, k_g, k_d = jax.random.split(jax.random.key(0), 3)
    gen, disc = init_mlp(k_g, (4, 32, 2)), init_mlp(k_d, (2, 32, 1))
    gen_state, disc_state = tx.init(gen), tx.init(disc)
    for step in range(50):
        key, k_real, k_z = jax.random.split(key, 3)
        theta = jax.random.uniform(k_real, (128,), maxval=2.0 * jnp.pi)
        real = jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=-1)
        z = jax.random.normal(k_z, (128, 4))
        new_disc, disc_state, d_loss = critic_step(disc, disc_state, gen, real, z)  # finding-also
        gen, gen_state, g_loss = generator_step(gen, gen_state, disc, z)  # finding
        disc = new_disc  # finding-also
    print("critic", float(d_loss), "generator", float(g_loss))


if __name__ == "__main__":
    main()
