# functions and modules of haiku that keep a state, under hk.transform
import haiku as hk
import jax
import jax.numpy as jnp


class Block(hk.Module):
    def __call__(self, x, train):
        return hk.BatchNorm(True, True, 0.9)(hk.Linear(8)(x), train)


def forward(x, train):
    return Block()(x, train)


net = hk.transform(forward)  # finding


@hk.transform
def counted(x):  # finding
    count = hk.get_state("count", (), jnp.int32, init=jnp.zeros)
    return x * count


def main(x):
    params = net.init(jax.random.key(0), x, True)
    return net.apply(params, None, x, True), counted.init(jax.random.key(0), x)
