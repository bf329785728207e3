# a loss that ignores the new statistics, and no other call keeps them
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(1)(nn.BatchNorm(use_running_average=not train)(x))


net, tx = Net(), optax.adam(1e-3)


def step(params, batch_stats, opt_state, x):
    def loss_fn(p):
        variables = {"params": p, "batch_stats": batch_stats}
        out, _ = net.apply(variables, x, True, mutable=["batch_stats"])  # finding
        return jnp.mean(out**2)

    updates, opt_state = tx.update(jax.grad(loss_fn)(params), opt_state)
    return optax.apply_updates(params, updates), opt_state


def probe(params, batch_stats, x):
    out, _ = net.apply({"params": params, "batch_stats": batch_stats}, x, True, mutable=["batch_stats"])
    return out
