# source: patrick-kidger/equinox#753
# blind: nineteenth

import jax
import jax.numpy as jnp
import equinox as eqx
import optax


class Adapter(eqx.Module):
    backbone: eqx.nn.MLP
    head: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.backbone = eqx.nn.MLP(8, 32, 64, 2, key=k1)
        self.head = eqx.nn.Linear(32, 1, key=k2)

    def __call__(self, x):
        return self.head(jax.nn.relu(self.backbone(x)))[0]


def head_only(model):
    frozen = jax.tree.map(lambda _: False, model)
    return eqx.tree_at(lambda m: (m.head.weight, m.head.bias), frozen, (True, True))


def pull_to_reference(trainable, reference, strength):
    return jax.tree.map(lambda p, r: strength * (p - r), trainable, reference)  # finding


@eqx.filter_jit
def step(trainable, static, reference, opt_state, tx, x, y):
    def loss_fn(t):
        model = eqx.combine(t, static)
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(trainable)
    pull = pull_to_reference(trainable, reference, 1e-3)  # finding-also
    grads = jax.tree.map(jnp.add, grads, pull)
    updates, opt_state = tx.update(grads, opt_state, trainable)
    return eqx.apply_updates(trainable, updates), opt_state, loss


def main():
    k_model, k_x = jax.random.split(jax.random.key(0))
    model = Adapter(k_model)
    reference = eqx.filter(model, eqx.is_array)  # finding-also
    trainable, static = eqx.partition(model, head_only(model))
    tx = optax.adam(1e-2)
    opt_state = tx.init(trainable)
    x = jax.random.normal(k_x, (128, 8))
    y = jnp.sin(x[:, 0]) + x[:, 1]
    for _ in range(50):
        trainable, opt_state, loss = step(trainable, static, reference, opt_state, tx, x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
