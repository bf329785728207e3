# a training loop on the host around jitted parts
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit  # finding: missing-donation
def update(params, batch):
    loss, grads = jax.value_and_grad(lambda p: ((batch @ p) ** 2).mean())(params)
    return params - 0.1 * grads, loss

params = jnp.ones(2)
best, patience, history = float("inf"), 0, []
for epoch in range(3):
    batch = np.random.default_rng(epoch).normal(size=(4, 2))
    params, loss = update(params, batch)
    history.append(loss)
    if loss < best:
        best, patience = loss, 0
    else:
        patience += 1
    if patience > 2 or jnp.isnan(loss):
        break
assert np.asarray(history[-1]) >= 0
order = np.argsort(np.asarray([float(h) for h in history]))
print(history[int(order[0])], params[int(jnp.argmax(params))])
