# source: huggingface/diffusers#2155

import jax
import jax.numpy as jnp


class Scheduler:
    def __init__(self, num_steps, order):
        self.num_steps = num_steps
        self.order = order
        self.sigmas = jnp.linspace(1.0, 0.0, num_steps + 1)

    def first(self, noise, previous):
        return noise

    def second(self, noise, previous):
        return 1.5 * noise - 0.5 * previous

    def step(self, i, noise, previous, sample):
        delta = self.sigmas[i + 1] - self.sigmas[i]
        if self.order == 2:
            noise = jax.lax.cond(i > 0, self.second, self.first, noise, previous)
        return sample + delta * noise, noise


def denoise(params, sample, scheduler):
    def body(i, state):
        sample, previous = state
        return scheduler.step(i, jnp.tanh(sample @ params), previous, sample)

    start = (sample, jnp.zeros_like(sample))
    return jax.lax.fori_loop(0, scheduler.num_steps, body, start)[0]


run = jax.jit(lambda params, sample: denoise(params, sample, Scheduler(10, 2)))
print(run(jnp.eye(4), jnp.ones((2, 4))))
