# source: jax-ml/jax#3333
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def decode(params, prompt):
    logits = jnp.einsum("bd,dv->bv", prompt, params)
    return jnp.argsort(-logits, axis=-1)[:, :5]


def write(params, prompts, vocabulary):
    lines = []
    ranked = decode(params, prompts)
    for row in ranked:
        words = [vocabulary[int(token)] for token in row]  # finding
        lines.append(" ".join(words))
    return lines


if __name__ == "__main__":
    words = [str(i) for i in range(10)]
    print(write(jnp.ones((4, 10)), jnp.ones((3, 4)), words))
