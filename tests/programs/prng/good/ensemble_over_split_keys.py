# source: jax-ml/jax#2009
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


def make_ensemble(key, size):
    @eqx.filter_vmap
    def make(k):
        return eqx.nn.MLP(2, 1, 16, 2, key=k)

    return make(jax.random.split(key, size))


def predict(models, x):
    preds = eqx.filter_vmap(lambda model: jax.vmap(model)(x))(models)
    return preds.mean(0), preds.std(0)


if __name__ == "__main__":
    key, data_key = jax.random.split(jax.random.key(0))
    print(predict(make_ensemble(key, 5), jax.random.normal(data_key, (3, 2)))[1])
