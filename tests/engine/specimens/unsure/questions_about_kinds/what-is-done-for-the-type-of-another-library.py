# what is done for the type of another library
import jax
import jax.numpy as jnp
import numpy as np
from lists import Table

class Rotation:
    def __init__(self, covariance):
        self.covariance = jnp.array(covariance)

    def rotate(self, matrix, covariance=None):
        if covariance is None:
            covariance = self.covariance
        if isinstance(covariance, Table):
            rotated = np.eye(3)
            rotated[:2, :2] = matrix
            return rotated
        return matrix @ covariance

    def fit(self, matrix):
        return jax.jit(lambda m: self.rotate(m))(matrix)

Rotation([[1.0, 0.0], [0.0, 1.0]]).fit(jnp.ones((2, 2)))
