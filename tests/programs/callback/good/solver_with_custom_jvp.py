# source: jax-ml/jax#11928
# blind: sixth

"""A host special function with its own derivative rule."""
import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def host_jv(v, z):
    return special.jv(v, z).astype(np.asarray(z).dtype)


@jax.custom_jvp
def jv(v, z):
    v, z = jnp.asarray(v), jnp.asarray(z)
    shape = jax.ShapeDtypeStruct(jnp.broadcast_shapes(v.shape, z.shape), z.dtype)
    return jax.pure_callback(host_jv, shape, v.astype(z.dtype), z, vmap_method="broadcast_all")


@jv.defjvp
def jv_jvp(primals, tangents):
    v, z = primals
    _, z_dot = tangents
    rate = jnp.where(v == 0, -jv(v + 1, z), 0.5 * (jv(v - 1, z) - jv(v + 1, z)))
    return jv(v, z), z_dot * rate


if __name__ == "__main__":
    z = jnp.linspace(0.1, 3.0, 4)
    print(jax.jit(jax.grad(lambda z: jv(0.0, z).sum()))(z))
