# methods and attributes of arrays, where it is known that they are some
import jax.numpy as jnp


def report(x: jnp.ndarray, model):
    y = jnp.exp(x)
    print(y.device())  # finding
    print(x.to_py())  # finding
    return y.device_buffers, model.device()  # finding
