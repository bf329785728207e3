# source: huggingface/diffusers#2155

import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class SchedulerState:
    sigmas: jax.Array
    previous: jax.Array
    index: jax.Array = None


class Multistep:
    def __init__(self, num_steps):
        self.num_steps = num_steps

    def create_state(self, shape):
        return SchedulerState(jnp.linspace(1.0, 0.0, self.num_steps + 1), jnp.zeros(shape), jnp.array(0))

    def step(self, state, noise, sample):
        i = state.index
        delta = state.sigmas[i + 1] - state.sigmas[i]
        if i > 0:  # finding
            noise = 1.5 * noise - 0.5 * state.previous
        return sample + delta * noise, state.replace(previous=noise, index=i + 1)


def denoise(params, sample, scheduler):
    state = scheduler.create_state(sample.shape)

    def loop_body(_, args):
        sample, state = args
        return scheduler.step(state, jnp.tanh(sample @ params), sample)

    return jax.lax.fori_loop(0, scheduler.num_steps, loop_body, (sample, state))[0]


print(denoise(jnp.eye(4), jnp.ones((2, 4)), Multistep(10)))
