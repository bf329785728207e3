# a gradient outside of jit

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

class Cell:
    def __init__(self, lattice):
        self.lattice = lattice

    def volume(self, strain):
        return jnp.linalg.det(self.lattice @ (np.eye(3) + strain))  # finding

    def energy(self, strain):
        size = np.ceil(jax.lax.stop_gradient(strain).sum())
        bound = scipy.special.gammaln(strain)  # finding
        rows = strain[np.asarray(strain > 0).nonzero()[0]]
        return (self.volume(strain) - np.prod(strain.shape)) ** 2 + size + np.sum(rows) + bound

def main():
    cell = Cell(2.0 * np.eye(3))
    stress = jax.grad(cell.energy)(jnp.zeros((3, 3)))
    return np.linalg.norm(stress), np.asarray(cell.lattice)
