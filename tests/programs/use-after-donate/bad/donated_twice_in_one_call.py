# source: jax-ml/jax#9635
# blind: eighth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def blend(online, target, tau):
    target = jax.tree.map(lambda o, t: tau * o + (1 - tau) * t, online, target)
    return online, target


def main():
    online = {"w": jnp.ones((4, 4))}
    online, target = blend(online, online, 0.01)  # finding
    print(target["w"].sum())


if __name__ == "__main__":
    main()
