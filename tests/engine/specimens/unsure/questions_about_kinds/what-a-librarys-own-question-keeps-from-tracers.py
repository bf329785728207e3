# what a library's own question keeps from tracers
import jax
from somewhere import math

def probabilities(probs, names):
    if not math.is_abstract(sum(probs)):
        if min(probs) < 0:
            raise ValueError("negative")
    if isinstance(names[0], str):
        names = [int(name) for name in names]
    return probs

def prepared(state, names):
    if math.is_abstract(state):
        return state
    return [name for name in names for _ in range(state)]

jax.jit(lambda probs, state, names: (probabilities(probs, names), prepared(state, names)))
