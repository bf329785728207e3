# keys of a call that is lowered alone
import jax

def reset(key):
    return jax.random.normal(key, (3,))

@jax.jit
def step(key, state):
    return state + jax.random.normal(key, (3,))

def compiled():
    key = jax.random.key(0)
    return step.lower(key, reset(key)).compile()
