# source: jax-ml/jax#10596
# blind: fifth

import haiku as hk
import jax
import jax.numpy as jnp


def discriminator(images):
    x = hk.Conv2D(32, 3, stride=2)(images)
    x = hk.Flatten()(jax.nn.leaky_relu(x))
    return hk.Linear(1)(hk.Linear(1024)(x))


disc = hk.without_apply_rng(hk.transform(discriminator))


def build_scorer(seed, shape):
    params = disc.init(jax.random.PRNGKey(seed), jnp.zeros((1, *shape)))
    return jax.jit(lambda images: jax.nn.sigmoid(disc.apply(params, images)))  # finding


def main():
    score = build_scorer(0, (32, 32, 3))
    total = sum(score(jnp.ones((4, 32, 32, 3)) * i).mean() for i in range(3))
    print(total)


if __name__ == "__main__":
    main()
