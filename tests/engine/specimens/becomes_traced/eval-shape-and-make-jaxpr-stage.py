# eval_shape and make_jaxpr stage
import jax
import jax.numpy as jnp

def f(x):
    return float(x.sum())  # finding: tracer-concretization

jax.eval_shape(f, jnp.ones(3))
