# source: jax-ml/jax#36305
# blind: seventh

"""Distillation of a wide teacher into a narrow student."""

import functools

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


teacher, student = Net(1024), Net(64)
optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, teacher_params, x):
    targets = jax.nn.softmax(teacher.apply(teacher_params, x))

    def loss_fn(p):
        return optax.softmax_cross_entropy(student.apply(p, x), targets).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    teacher_key, student_key, data_key = jax.random.split(jax.random.key(0), 3)
    teacher_params = teacher.init(teacher_key, jnp.ones((1, 784)))
    params = student.init(student_key, jnp.ones((1, 784)))
    opt_state = optimizer.init(params)
    for key in jax.random.split(data_key, 5):
        x = jax.random.normal(key, (32, 784))
        params, opt_state, loss = train_step(params, opt_state, teacher_params, x)
    print(loss)


if __name__ == "__main__":
    main()
