# source: jax-ml/jax#36305
# blind: seventh

"""Distillation of a wide teacher into a narrow student."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(10)(x)


teacher, student = Net(8192), Net(64)
teacher_params = teacher.init(jax.random.key(0), jnp.ones((1, 784)))
optimizer = optax.adam(1e-3)


@jax.jit
def train_step(params, opt_state, x):
    targets = jax.nn.softmax(teacher.apply(teacher_params, x))  # finding

    def loss_fn(p):
        return optax.softmax_cross_entropy(student.apply(p, x), targets).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    params = student.init(jax.random.key(1), jnp.ones((1, 784)))
    opt_state = optimizer.init(params)
    for i in range(5):
        x = jax.random.normal(jax.random.key(i), (32, 784))
        params, opt_state, loss = train_step(params, opt_state, x)
    print(loss)


if __name__ == "__main__":
    main()
