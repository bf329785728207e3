# source: jax-ml/jax#7364
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def generate(params, start, length):
    def grow(tokens, _):
        logits = params[tokens[-1]]
        nxt = jnp.argmax(logits)
        return jnp.concatenate([tokens, nxt[None]]), nxt  # finding

    _, out = lax.scan(grow, start, None, length=length)  # finding-also
    return out


if __name__ == "__main__":
    print(generate(jnp.eye(5), jnp.array([1]), 4))
