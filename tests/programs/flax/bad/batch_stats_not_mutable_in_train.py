# source: google/evojax#60
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class ResBlock(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, train: bool):
        h = nn.Conv(self.features, (3, 3), use_bias=False)(x)
        h = nn.BatchNorm(use_running_average=not train, momentum=0.9)(h)
        h = nn.relu(h)
        h = nn.Conv(self.features, (3, 3), use_bias=False)(h)
        return nn.relu(x + h)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(8, (3, 3))(x)
        x = ResBlock(8)(x, train)
        return nn.Dense(3)(x.mean(axis=(1, 2)))


model = Net()
tx = optax.sgd(0.1, momentum=0.9)


@functools.partial(jax.jit, donate_argnums=(0, 2))
def train_step(params, batch_stats, opt_state, images, labels):
    def loss_fn(p):
        variables = {"params": p, "batch_stats": batch_stats}
        logits = model.apply(variables, images, train=True)  # finding
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    images = jnp.ones((4, 8, 8, 3))
    variables = model.init(jax.random.key(0), images, train=False)
    params, stats = variables["params"], variables["batch_stats"]
    opt_state = tx.init(params)
    params, opt_state, loss = train_step(params, stats, opt_state, images, jnp.array([0, 1, 2, 0]))
    print(loss)


if __name__ == "__main__":
    main()
