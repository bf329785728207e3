# source: jax-ml/jax#13033
# blind: first

import jax
import jax.numpy as jnp


def evaluate(params, batches):
    correct = jnp.zeros((), jnp.bfloat16)  # finding-also
    seen = 0
    for x, y in batches:
        logits = x.astype(jnp.bfloat16) @ params
        correct = correct + jnp.sum(jnp.argmax(logits, -1) == y).astype(jnp.bfloat16)  # finding
        seen += y.shape[0]
    return correct / seen


if __name__ == "__main__":
    x = jnp.ones((50, 4))
    print(evaluate(jnp.eye(4, dtype=jnp.bfloat16), [(x, jnp.zeros(50, jnp.int32))] * 40))
