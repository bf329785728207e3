# source: jax-ml/jax#9675
# blind: first

import jax
import jax.numpy as jnp

normalise = jax.jit(lambda x: (x - x.mean()) / (x.std() + 1e-6), donate_argnums=0)


def feature_means(sources):
    out = []
    for source in sources:
        x = jnp.asarray(source, dtype=jnp.float32)
        x = normalise(x)
        out.append(x.max())
    return jnp.stack(out)


if __name__ == "__main__":
    print(feature_means([range(5), range(9)]))
