# source: jax-ml/jax#9761
# blind: first

import jax
import jax.numpy as jnp


def gamma_correct(x, gamma):
    return jnp.where(x > 0.0, x**gamma, 0.0)  # finding


def render(params, rays):
    radiance = jax.nn.relu(rays @ params["color"])
    return gamma_correct(radiance, 1 / 2.2)


@jax.jit
def photometric(params, rays, target):
    return jax.grad(lambda p: jnp.mean((render(p, rays) - target) ** 2))(params)


if __name__ == "__main__":
    print(photometric({"color": -jnp.ones((3, 3))}, jnp.ones((4, 3)), jnp.ones((4, 3))))
