# source: google/flax#2536
# blind: nineteenth

import jax
import jax.numpy as jnp
import flax.linen as nn
import optax


class NormalizedMLP(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x, train):
        for width in (64, 64):
            x = nn.Dense(width, use_bias=False)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.relu(x)
        return nn.Dense(self.classes)(x)


model = NormalizedMLP(3)
tx = optax.adam(1e-2)


@jax.jit
def train_step(variables, opt_state, x, labels):
    def loss_fn(params):
        logits, updated = model.apply(  # finding-also
            {"params": params, "batch_stats": variables["batch_stats"]},
            x,
            train=True,
            mutable=["batch_stats"],
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, updated

    (loss, updated), grads = jax.value_and_grad(loss_fn, has_aux=True)(variables["params"])  # finding-also
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(variables["params"], updates)
    return {**variables, "params": params}, opt_state, loss  # finding


@jax.jit
def accuracy(variables, x, labels):
    logits = model.apply(variables, x, train=False)
    return jnp.mean(jnp.argmax(logits, axis=-1) == labels)


def sensor_data(key, n):
    k_label, k_noise = jax.random.split(key)
    labels = jax.random.randint(k_label, (n,), 0, 3)
    centers = jnp.array([[30.0, -5.0, 4.0], [34.0, -9.0, 2.0], [26.0, -7.0, 8.0]])
    return centers[labels] + jax.random.normal(k_noise, (n, 3)), labels


def main():
    k_train, k_test, k_init = jax.random.split(jax.random.key(0), 3)
    x, labels = sensor_data(k_train, 256)
    x_test, labels_test = sensor_data(k_test, 256)
    variables = model.init(k_init, x, train=False)
    opt_state = tx.init(variables["params"])
    for _ in range(80):
        variables, opt_state, loss = train_step(variables, opt_state, x, labels)
    print("train loss", float(loss), "test accuracy", float(accuracy(variables, x_test, labels_test)))


if __name__ == "__main__":
    main()
