# blind: tenth

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_vmap
def make(key):
    return eqx.nn.MLP(3, 1, 16, 2, key=key)


@eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
def predict(model, x):
    return model(x)


models = make(jax.random.split(jax.random.key(0), 5))
print(predict(models, jnp.ones(3)).std())
