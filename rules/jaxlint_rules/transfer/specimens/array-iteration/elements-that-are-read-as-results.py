# elements that are drawn or listed as numbers

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

def plot_paths(key):
    paths = jax.random.normal(key, (50, 100)).cumsum(axis=1)
    for path in paths:  # finding
        plt.plot(path)
    return [float(x) for x in jnp.linspace(0.0, 1.0, 100)]  # finding
