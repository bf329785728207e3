# source: jax-ml/jax#1832
# blind: sixth

"""NumPy for what is fixed, jnp for what is traced."""
import jax
import jax.numpy as jnp
import numpy as np


def dct_matrix(n):
    k = np.arange(n)
    return np.cos(np.pi / n * (k[None, :] + 0.5) * k[:, None])


@jax.jit
def compress(x):
    basis = dct_matrix(x.shape[-1]).astype(np.float32)
    coeffs = x @ basis.T
    keep = np.prod(x.shape) // 2
    limit = jnp.sort(jnp.abs(coeffs).ravel())[-int(keep)]
    scale = np.sqrt(2.0 / np.size(basis[0]))
    return jnp.where(jnp.abs(coeffs) >= limit, coeffs, 0.0) * scale


if __name__ == "__main__":
    print(compress(jnp.arange(32.0).reshape(4, 8)))
