# source: google-deepmind/dm-haiku#693
# blind: third

import haiku as hk
import jax
import jax.numpy as jnp


def count_params(tree):
    return sum(x.size for x in jax.tree.leaves(tree))


def is_device_array(x):
    return isinstance(x, (jnp.DeviceArray, jax.core.Tracer))  # finding


def to_host(tree):
    return jax.tree.map(lambda x: jax.device_get(x) if is_device_array(x) else x, tree)


def forward(x):
    return hk.nets.MLP([8, 2])(x)


if __name__ == "__main__":
    net = hk.without_apply_rng(hk.transform(forward))
    params = net.init(jax.random.key(0), jnp.ones((1, 3)))
    print(count_params(to_host(params)))
