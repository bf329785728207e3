# blind: tenth

import jax
import jax.numpy as jnp


def nll(logits, labels):
    probs = jax.nn.softmax(logits.astype(jnp.float16))
    picked = jnp.take_along_axis(probs, labels[:, None], axis=1)
    return -jnp.mean(jnp.log(picked + 1e-8))  # finding


logits = jnp.array([[30.0, -30.0], [-20.0, 20.0]])
print(jax.jit(nll)(logits, jnp.array([1, 0])))
