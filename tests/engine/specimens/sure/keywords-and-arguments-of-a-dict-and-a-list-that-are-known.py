# keywords and arguments of a dict and a list that are known
import jax

def scaled(x, factor):
    if factor > 0:  # finding: tracer-branch
        return x * factor
    return x

def moved(x, shift):
    if shift > 0:  # finding: tracer-branch
        return x + shift
    return x

@jax.jit
def run(x, factor):
    kwargs = {"factor": 1.0}
    kwargs.update(factor=factor)
    args = [x, None]
    args[1] = factor
    return scaled(x, **kwargs) + moved(*args)
