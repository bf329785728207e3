# source: noegroup/ScoreMD#7
# blind: fourth

import dataclasses
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Schedule:
    num_steps: int = 250
    beta_min: float = 1e-4
    beta_max: float = 0.02

    def betas(self):
        return jnp.linspace(self.beta_min, self.beta_max, self.num_steps)


class Diffusion:
    def __init__(self, model, schedule):
        self.model = model
        self.schedule = schedule

    def denoise(self, x, beta, key):
        eps = jax.vmap(self.model)(x)
        mean = (x - beta * eps) / jnp.sqrt(1 - beta)
        return mean + jnp.sqrt(beta) * jax.random.normal(key, x.shape)

    @partial(jax.jit, static_argnums=(0, 2))
    def sample(self, key, n):
        key, sub = jax.random.split(key)

        def body(x, step):
            beta, step_key = step
            return self.denoise(x, beta, step_key), None

        keys = jax.random.split(key, self.schedule.num_steps)
        betas = self.schedule.betas()[::-1]
        return jax.lax.scan(body, jax.random.normal(sub, (n, 2)), (betas, keys))[0]


if __name__ == "__main__":
    model = eqx.nn.MLP(2, 2, 16, 1, key=jax.random.key(0))
    print(Diffusion(model, Schedule()).sample(jax.random.key(1), 4).shape)
