# blind: fourteenth
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class EnsembleConfig:
    members: int = 5
    hidden: int = 16
    dropout: float = 0.1


def init_member(key, d_in, hidden):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (d_in, hidden)) / jnp.sqrt(d_in),
        "w2": jax.random.normal(k2, (hidden, 1)) / jnp.sqrt(hidden),
    }


class DeepEnsemble:
    def __init__(self, config, d_in, key):
        self.config = config
        keys = jax.random.split(key, config.members)
        self.params = jax.vmap(init_member, in_axes=(0, None, None))(keys, d_in, config.hidden)

    def predict(self, x, key):
        config = self.config

        def predict_one(params, x, key):
            h = jax.nn.relu(x @ params["w1"])
            keep = jax.random.bernoulli(key, 1 - config.dropout, h.shape)
            h = jnp.where(keep, h / (1 - config.dropout), 0.0)
            return (h @ params["w2"])[:, 0]

        keys = jax.random.split(key, config.members + 1)
        preds = jax.vmap(predict_one, in_axes=(0, None, 0))(self.params, x, keys)  # finding
        return preds.mean(axis=0), preds.std(axis=0)


def main():
    init_key, x_key, predict_key = jax.random.split(jax.random.key(0), 3)
    ensemble = DeepEnsemble(EnsembleConfig(hidden=8), 3, init_key)
    x = jax.random.normal(x_key, (10, 3))
    mean, std = ensemble.predict(x, predict_key)
    print(mean.shape, bool((std > 0).all()))


if __name__ == "__main__":
    main()
