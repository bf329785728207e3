# names that a later import gives to another library
import jax
import jax.numpy as np

def normalize(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)

fast = jax.pmap(lambda rays: normalize(rays))
print(fast(np.ones((1, 3))))

import numpy as np

np.save("out.npy", np.zeros(3))
