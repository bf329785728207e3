# source: google/evojax#60
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    width: int = 16

    def setup(self):
        self.conv = nn.Conv(self.width, (3, 3), use_bias=False)
        self.norm = nn.BatchNorm(momentum=0.9)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Dense(3)

    def __call__(self, x, train):
        x = self.norm(self.conv(x), use_running_average=not train)
        x = self.drop(nn.relu(x).mean(axis=(1, 2)), deterministic=not train)
        return self.head(x)


model = Net()
tx = optax.sgd(0.05, momentum=0.9)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(params, stats, opt_state, key, images, labels):
    def loss_fn(p):
        logits, new_vars = model.apply(
            {"params": p, "batch_stats": stats},
            images,
            train=True,
            mutable=["batch_stats"],
            rngs={"dropout": key},
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, new_vars["batch_stats"]

    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), stats, opt_state, loss


@jax.jit
def evaluate(params, stats, images):
    return model.apply({"params": params, "batch_stats": stats}, images, train=False).argmax(-1)


def main():
    images = jax.random.normal(jax.random.key(0), (8, 6, 6, 1))
    variables = model.init(jax.random.key(1), images, train=False)
    params, stats = variables["params"], variables["batch_stats"]
    opt_state = tx.init(params)
    for key in jax.random.split(jax.random.key(2), 3):
        params, stats, opt_state, loss = train_step(
            params, stats, opt_state, key, images, jnp.arange(8) % 3
        )
    print(loss, evaluate(params, stats, images))


if __name__ == "__main__":
    main()
