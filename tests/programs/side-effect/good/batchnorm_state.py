# blind: nineteenth

import jax
import jax.numpy as jnp
import flax.linen as nn
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(32, use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.9)(x))
        return nn.Dense(3)(x)


net = Net()
tx = optax.adam(1e-2)


@jax.jit
def train_step(params, stats, opt_state, x, labels):
    def loss_fn(p):
        logits, new = net.apply({"params": p, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new["batch_stats"]

    (loss, stats_new), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), stats_new, opt_state, loss


@jax.jit
def accuracy(params, stats, x, labels):
    logits = net.apply({"params": params, "batch_stats": stats}, x, train=False)
    return jnp.mean(logits.argmax(axis=-1) == labels)


def sensor(key, n):
    k_l, k_n = jax.random.split(key)
    labels = jax.random.randint(k_l, (n,), 0, 3)
    centers = jnp.array([[30.0, -5.0], [34.0, -9.0], [26.0, -7.0]])
    return centers[labels] + jax.random.normal(k_n, (n, 2)), labels


def main():
    k_train, k_test, k_init = jax.random.split(jax.random.key(0), 3)
    x, labels = sensor(k_train, 256)
    variables = net.init(k_init, x, train=False)
    params, stats = variables["params"], variables["batch_stats"]
    opt_state = tx.init(params)
    for _ in range(80):
        params, stats, opt_state, loss = train_step(params, stats, opt_state, x, labels)
    print("loss", float(loss), "test accuracy", float(accuracy(params, stats, *sensor(k_test, 256))))


if __name__ == "__main__":
    main()
