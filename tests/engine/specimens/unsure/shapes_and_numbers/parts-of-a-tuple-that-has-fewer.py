# parts of a tuple that has fewer
import functools
import jax

def make(scale):
    @functools.partial(jax.jit, static_argnames="n")
    def sample(x, n):
        return [x * scale for _ in range(n)]

    @functools.partial(jax.jit, static_argnames="n")
    def lengths(x, n):
        return [scale] * n

    return sample, lengths

def run(xs):
    _, _, density = make(2.0)
    return jax.vmap(lambda x: density(x, x))(xs)
