# source: jax-ml/jax#2660
# blind: third

import jax
import jax.numpy as jnp


class Monitor:
    def __init__(self, every):
        self.every = every

    def full(self, params, loss):
        norm = jnp.sqrt(sum(jnp.vdot(p, p) for p in jax.tree.leaves(params)))
        return {"loss": loss, "param_norm": norm}

    def brief(self, params, loss):
        return {"loss": loss}

    def __call__(self, step, params, loss):
        return jax.lax.cond(step % self.every == 0, self.full, self.brief, params, loss)  # finding


@jax.jit
def train_step(step, params, x):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p["w"]) ** 2))(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, Monitor(every=10)(step, params, loss)


if __name__ == "__main__":
    print(train_step(0, {"w": jnp.ones(3)}, jnp.ones((2, 3))))
