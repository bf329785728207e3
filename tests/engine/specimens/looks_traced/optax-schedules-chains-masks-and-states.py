# optax: schedules, chains, masks and states
from functools import partial

import jax
import jax.numpy as jnp
import optax

def make(lr, clip=None, decay=0.0):
    parts = []
    if clip is not None:
        parts.append(optax.clip_by_global_norm(clip))
    if decay > 0:
        parts.append(optax.add_decayed_weights(decay, mask=lambda p: jax.tree.map(lambda x: x.ndim > 1, p)))
    schedule = optax.warmup_cosine_decay_schedule(0.0, lr, 2, 10)
    return optax.chain(*parts, optax.adam(schedule)), schedule

optimizer, schedule = make(1e-2, clip=1.0, decay=0.1)

@partial(jax.jit, donate_argnums=(0, 1))
def step(params, state, batch):
    loss, grads = jax.value_and_grad(lambda p: ((batch @ p["w"]) ** 2).sum())(params)
    updates, state = optimizer.update(grads, state, params)
    if optimizer.update is not None and "w" in updates:
        params = optax.apply_updates(params, updates)
    return params, state, loss

params = {"w": jnp.ones((2, 2))}
state = optimizer.init(params)
for i in range(2):
    params, state, loss = step(params, state, jnp.ones((3, 2)))
if schedule(3) > 0:
    print(float(loss), float(schedule(3)))
