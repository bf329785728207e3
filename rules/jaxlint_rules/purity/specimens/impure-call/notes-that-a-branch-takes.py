# a branch of cond that notes in an outer list that it was taken

import jax
import jax.numpy as jnp


class Logger:
    def __init__(self):
        self.events = []

    def note(self, text):
        self.events.append(text)  # finding


logger = Logger()


@jax.jit
def clip(grads, limit):
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in grads))

    def big(gs):
        logger.note("clipped")
        return [g * limit / norm for g in gs]

    def parts(gs):
        kept = []
        kept.append("whole")
        return gs

    return jax.lax.cond(norm > limit, big, parts, grads)
