# blind: every clause

import jax
import jax.numpy as jnp


class Ensemble:
    def __init__(self, n):
        self.members = [jnp.full(2, float(i)) for i in range(n)]

    def predict(self, x, idx):
        w = self.members[idx]  # finding
        return jnp.dot(w, x)

    def thompson(self, key, x):
        idx = jax.random.randint(key, (), 0, len(self.members))
        return self.predict(x, idx)


e = Ensemble(3)
print(jax.jit(e.thompson)(jax.random.key(0), jnp.ones(2)))
