# what pmap donates by position alone, and jit by name as well

import jax


def update(params, batch):
    return jax.tree.map(lambda p: p + batch.mean(), params)


each = jax.pmap(update, donate_argnums=0)
whole = jax.jit(update, donate_argnums=0)


def train(params, batches):
    for batch in batches:
        params = each(params=params, batch=batch)  # finding
        params = each(params, batch=batch)
        params = whole(params=params, batch=batch)
    return params
