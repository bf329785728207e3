# blind: tenth

import jax
import jax.numpy as jnp
import optax

tx = optax.sgd(0.1)


@jax.jit  # finding-other
def train_step(params, opt_state, batch):
    def loss_fn(p):
        return jnp.mean((batch["x"] @ p - batch["y"]) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    metrics = {"loss": loss, "norm": optax.global_norm(grads)}
    return optax.apply_updates(params, updates), opt_state, metrics


def run(loader, params):
    opt_state = tx.init(params)
    history = []
    for batch in loader:
        params, opt_state, metrics = train_step(params, opt_state, batch)
        history.append({k: float(v) for k, v in metrics.items()})  # finding
    return params, history


loader = [{"x": jnp.ones((4, 3)), "y": jnp.ones(4)} for _ in range(5)]
print(run(loader, jnp.zeros(3))[1][-1])
