# outside of any trace arrays have values
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def f(x):
    return x * 2

y = f(jnp.ones(3))
if y.sum() > 0:
    print(float(y[0]), int(y.argmax()), np.asarray(y), y.tolist(), f"{y[0]:.3f}")
table = [1, 2, 3]
print(table[int(y.argmax())], jnp.zeros(int(y.sum())))
