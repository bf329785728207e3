# blind: twenty-first

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(nn.Dense(32)(x))
        return nn.Dense(2)(x)


net = Net()
tx = optax.adam(1e-2)


def loss_fn(params, rest, x, y):
    logits, rest = net.apply({"params": params, **rest}, x, train=True,
                             mutable=["batch_stats"])
    ce = optax.softmax_cross_entropy_with_integer_labels(logits, y)
    return ce.mean(), rest


@jax.jit  # finding-other
def train_step(variables, opt_state, x, y):
    params = variables["params"]
    rest = {k: v for k, v in variables.items() if k != "params"}
    (loss, rest), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, rest, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return {"params": params, **rest}, opt_state, loss


def main():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(8.0, 5.0, size=(512, 4)), jnp.float32)
    y = (x[:, 0] > x[:, 1]).astype(jnp.int32)
    variables = net.init(jax.random.key(0), x[:1], train=False)
    opt_state = tx.init(variables["params"])
    for _ in range(12):
        for i in range(0, 512, 64):
            variables, opt_state, loss = train_step(
                variables, opt_state, x[i:i + 64], y[i:i + 64])
    accuracy = float((net.apply(variables, x, train=False).argmax(-1) == y).mean())
    mean = variables["batch_stats"]["BatchNorm_0"]["mean"]
    print("accuracy", accuracy, "running mean", mean)
    assert accuracy > 0.95 and abs(float(mean.mean()) - 8.0) < 1.0


if __name__ == "__main__":
    main()
