# both branches of a cond are traced, what they close over is not
from jax import lax

def pick(done, k, s):
    return lax.cond(done, lambda: k if k > 0 else -k, lambda: s)

pick(True, 2.0, 3.0)
