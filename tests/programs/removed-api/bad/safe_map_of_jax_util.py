# source: jax-ml/jax-llm-examples#13
# blind: ninth

import jax
import jax.numpy as jnp
from jax.util import safe_map, safe_zip  # finding


def layer_norms(params, names):
    leaves = safe_map(lambda name: jnp.linalg.norm(params[name]), names)
    return dict(safe_zip(names, leaves))


@jax.jit
def normalised(params):
    norms = layer_norms(params, sorted(params))
    return {name: value / norms[name] for name, value in params.items()}


if __name__ == "__main__":
    print(normalised({"w": jnp.ones(4), "b": jnp.ones(2)}))
