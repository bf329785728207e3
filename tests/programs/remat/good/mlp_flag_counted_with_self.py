# source: google/flax#3946
# blind: seventh

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Mlp(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.relu(nn.Dense(self.width)(x))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(1)(x)


RematMlp = nn.remat(Mlp, static_argnums=(2,))


def main():
    model = RematMlp(512)
    x = jnp.ones((16, 32))
    params_key, dropout_key, step_key = jax.random.split(jax.random.key(0), 3)
    variables = model.init({"params": params_key, "dropout": dropout_key}, x, True)

    def loss_fn(params, stats, x, key):
        out, new = model.apply(
            {"params": params, "batch_stats": stats},
            x,
            True,
            rngs={"dropout": key},
            mutable=["batch_stats"],
        )
        return jnp.mean(out**2), new["batch_stats"]

    step = jax.jit(jax.value_and_grad(loss_fn, has_aux=True))
    (loss, stats), grads = step(variables["params"], variables["batch_stats"], x, step_key)
    print(loss, optax.global_norm(grads))


if __name__ == "__main__":
    main()
