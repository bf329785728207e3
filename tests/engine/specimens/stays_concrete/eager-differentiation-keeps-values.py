# eager differentiation keeps values
import jax
import jax.numpy as jnp

def loss(w, flag):
    if flag:
        w = w * 2
    if w.sum() > 0:
        return w.sum()
    return -w.sum()

jax.grad(lambda a: a * 2 if a > 0 else a)(1.0)
jax.value_and_grad(loss)(jnp.ones(3), True)
jax.jvp(lambda x: x if x > 0 else -x, (1.0,), (1.0,))
jax.jacfwd(lambda x: x if x.sum() > 0 else -x)(jnp.ones(2))
jax.hessian(lambda x: (x * x).sum() if x[0] > 0 else x.sum())(jnp.ones(2))
