# what a union of types, or a type that is not known, asks for
import jax
import numpy as np
from elsewhere import Quantity

Scalar = np.generic | (bool | int | float)

def to_array(data):
    if isinstance(data, Scalar):
        return np.asarray(data)
    if isinstance(data, Quantity):
        return np.asarray(data)
    if isinstance(data, int | None):
        return int(data or 0)
    return data

@jax.jit
def doubled(x):
    return to_array(x) * 2
