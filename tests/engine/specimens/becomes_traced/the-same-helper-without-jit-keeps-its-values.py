# the same helper without jit keeps its values
import jax

def fit(loss_fn, p, x):
    return jax.value_and_grad(loss_fn)(p, x)

def my_loss(p, x):
    if p > 0:
        return p * x
    return -p * x

fit(my_loss, 1.0, 2.0)
