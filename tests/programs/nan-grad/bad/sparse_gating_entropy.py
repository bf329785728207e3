# source: jax-ml/jax#5798
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax


def init_moe(key, dim, experts, hidden):
    k_g, k_a, k_b = jax.random.split(key, 3)
    return {
        "gate": jax.random.normal(k_g, (dim, experts)) * dim ** -0.5,
        "up": jax.random.normal(k_a, (experts, dim, hidden)) * dim ** -0.5,
        "down": jax.random.normal(k_b, (experts, hidden, 1)) * hidden ** -0.5,
    }


def sparsemax(z):
    ordered = jnp.sort(z, axis=-1)[..., ::-1]
    cumulative = jnp.cumsum(ordered, axis=-1)
    k = jnp.arange(1, z.shape[-1] + 1)
    support = jnp.sum(1.0 + k * ordered > cumulative, axis=-1, keepdims=True)
    tau = (jnp.take_along_axis(cumulative, support - 1, axis=-1) - 1.0) / support
    return jnp.maximum(z - tau, 0.0)


def gate_entropy(p):
    return -jnp.sum(jnp.where(p > 0.0, p * jnp.log(p), 0.0), axis=-1)  # finding


def moe_loss(params, x, y, weight=0.01):
    gates = sparsemax(x @ params["gate"])
    hidden = jax.nn.relu(jnp.einsum("bd,edh->beh", x, params["up"]))
    expert_out = jnp.einsum("beh,eho->beo", hidden, params["down"])[..., 0]
    pred = jnp.sum(gates * expert_out, axis=-1)
    return jnp.mean((pred - y) ** 2) + weight * jnp.mean(gate_entropy(gates))


tx = optax.adam(5e-3)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(moe_loss)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    k_x, k_p = jax.random.split(jax.random.key(0))
    x = jax.random.normal(k_x, (256, 8))
    y = jnp.where(x[:, 0] > 0, x[:, 1], -x[:, 2])
    params = init_moe(k_p, 8, 6, 16)
    opt_state = tx.init(params)
    for step in range(100):
        params, opt_state, loss = train_step(params, opt_state, x, y)
        if step % 25 == 0:
            print("step", step, "loss", float(loss))
    print("final loss", float(loss))


if __name__ == "__main__":
    main()
