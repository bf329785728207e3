# source: google/jaxopt#210
# blind: sixth

"""Multi-task loss."""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    trunk = hk.nets.MLP([16, 16])(x)
    return [hk.Linear(1, name=f"task_{i}")(trunk) for i in range(3)]


network = hk.without_apply_rng(hk.transform(forward))


def multi_task_loss(params, x, targets):
    outputs = network.apply(params, x)
    losses = [jnp.mean((o[:, 0] - t) ** 2) for o, t in zip(outputs, targets)]
    return np.mean(np.array(losses))  # finding


def main():
    x = jnp.ones((4, 3))
    params = network.init(jax.random.key(0), x)
    targets = jnp.zeros((3, 4))
    loss, grads = jax.value_and_grad(multi_task_loss)(params, x, targets)
    print(loss, jax.tree.map(jnp.shape, grads))


if __name__ == "__main__":
    main()
