# source: jax-ml/jax#2009
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


def make_ensemble(key, size):
    def make(_):
        return eqx.nn.MLP(2, 1, 16, 2, key=key)  # finding

    return eqx.filter_vmap(make)(jnp.arange(size))  # finding-also


@eqx.filter_jit
def predict(models, x):
    def one(model):
        return jax.vmap(model)(x)

    preds = eqx.filter_vmap(one)(models)
    return preds.mean(0), preds.std(0)


if __name__ == "__main__":
    models = make_ensemble(jax.random.key(0), 5)
    print(predict(models, jnp.ones((3, 2)))[1])
