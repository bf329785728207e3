# source: google-deepmind/dm-haiku#140
# blind: fifth
# missed: no rule knows which transformations haiku needs its own version of

import haiku as hk
import jax
import jax.numpy as jnp


class Block(hk.Module):
    def __init__(self, width, name=None):
        super().__init__(name=name)
        self.width = width

    def __call__(self, x):
        h = jax.nn.gelu(hk.Linear(4 * self.width)(x))
        return x + hk.Linear(self.width)(h)


def forward(x):
    for _ in range(3):
        x = jax.checkpoint(Block(x.shape[-1]))(x)  # finding
    return x.mean()


net = hk.without_apply_rng(hk.transform(forward))


def main():
    x = jnp.ones((4, 16))
    params = net.init(jax.random.PRNGKey(0), x)
    grads = jax.jit(jax.grad(net.apply))(params, x)
    print(jax.tree.map(jnp.shape, grads))


if __name__ == "__main__":
    main()
