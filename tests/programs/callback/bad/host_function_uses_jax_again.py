# source: jax-ml/jax#24219
# blind: sixth

"""A SciPy optimiser called from compiled code."""
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize


def potential(x, a):
    return jnp.sum((x - a) ** 4) + jnp.sum(x**2)


value_and_grad = jax.jit(jax.value_and_grad(potential))


def host_minimise(a):
    def fun(x):
        value, grad = value_and_grad(x.astype(np.float32), a)  # finding
        return float(value), np.asarray(grad, np.float64)

    return minimize(fun, np.zeros(a.shape), jac=True, method="L-BFGS-B").x.astype(np.float32)


@jax.jit
def relaxed_energy(a):
    x = jax.pure_callback(host_minimise, jax.ShapeDtypeStruct(a.shape, a.dtype), a)  # finding-also
    return potential(x, a)


if __name__ == "__main__":
    print(relaxed_energy(jnp.array([1.0, -2.0])))
