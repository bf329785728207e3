# source: google/flax#2606
# blind: seventh

"""A small residual network with synchronised batch statistics."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Block(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, train):
        y = nn.Conv(self.features, (3, 3))(x)
        y = nn.BatchNorm(use_running_average=not train, axis_name="batch")(y)  # finding-also
        return nn.relu(x + y)


model = Block(8)


@functools.partial(jax.pmap, axis_name="batch")
def train_step(params, stats, images):
    def loss_fn(p):
        out, new = model.apply(
            {"params": p, "batch_stats": stats}, images, True, mutable=["batch_stats"]
        )
        return jnp.mean(out**2), new["batch_stats"]

    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    grads = jax.lax.pmean(grads, "batch")
    return optax.apply_updates(params, jax.tree.map(lambda g: -0.1 * g, grads)), stats, loss


@jax.jit
def eval_loss(params, stats, images):
    out = model.apply({"params": params, "batch_stats": stats}, images, False)
    return jax.lax.pmean(jnp.mean(out**2), axis_name="batch")  # finding


def main():
    n = jax.local_device_count()
    images = jnp.ones((n, 4, 8, 8, 8))
    variables = model.init(jax.random.key(0), images[0], False)
    one = (variables["params"], variables["batch_stats"])
    params, stats = jax.tree.map(lambda x: jnp.stack([x] * n), one)
    params, stats, loss = train_step(params, stats, images)
    print(loss, eval_loss(*one, images[0]))


if __name__ == "__main__":
    main()
