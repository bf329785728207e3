# the operand of a cond is traced
from jax import lax

def pick(done, k):
    return lax.cond(done, lambda v: v if v > 0 else -v, lambda v: v, k)  # finding: tracer-branch

pick(True, 2.0)
