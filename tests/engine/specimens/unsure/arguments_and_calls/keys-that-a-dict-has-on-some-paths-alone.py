# keys that a dict has on some paths alone
import jax
import settings

def step(x, block=3, limit=0):
    if limit > 2:
        return x
    return x + block

@jax.jit
def run(x, kwargs):
    return step(x, **kwargs)

def main(x):
    kwargs = {}
    if settings.passes():
        kwargs["limit"] = 3
    return run(x, kwargs)
