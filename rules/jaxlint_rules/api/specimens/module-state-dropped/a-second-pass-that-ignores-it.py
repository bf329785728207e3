# a second pass that ignores the new statistics, which the first keeps
import flax.linen as nn
import jax
import jax.numpy as jnp


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(1)(nn.BatchNorm(use_running_average=not train)(x))


critic = Critic()


def critic_step(params, batch_stats, real):
    def loss_fn(p):
        out, new = critic.apply({"params": p, "batch_stats": batch_stats}, real, True, mutable=["batch_stats"])
        return jnp.mean(out), new["batch_stats"]

    return jax.grad(loss_fn, has_aux=True)(params)


def generator_step(gen, params, batch_stats, z):
    def loss_fn(g):
        fake = z @ g
        out, _ = critic.apply({"params": params, "batch_stats": batch_stats}, fake, True, mutable=["batch_stats"])
        return -jnp.mean(out)

    return jax.grad(loss_fn)(gen)
