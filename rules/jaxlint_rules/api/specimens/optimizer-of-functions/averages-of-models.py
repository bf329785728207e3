# averages of models, with and without their functions

import equinox as eqx
import jax
import jax.numpy as jnp

class Net(eqx.Module):
    mlp: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, key):
        self.mlp = eqx.nn.MLP(4, 2, 64, 2, key=key)
        self.scale = jnp.ones(2)

class Plain(eqx.Module):
    weight: jax.Array

def polyak(target, online, tau):
    return jax.tree.map(lambda t, o: (1 - tau) * t + tau * o, target, online)  # finding

def guarded(target, online, tau):
    return jax.tree.map(lambda t, o: t + tau * (o - t) if eqx.is_array(t) else t, target, online)

def parted(target, online, tau):
    arrays, rest = eqx.partition(target, eqx.is_array)
    new = eqx.filter(online, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda t, o: t + tau * (o - t), arrays, new), rest)

def plain(target, online):
    return jax.tree.map(lambda t, o: 0.9 * t + 0.1 * o, target, online)

k1, k2 = jax.random.split(jax.random.key(0))
guarded(Net(k1), Net(k2), 0.1)
parted(Net(k1), Net(k2), 0.1)
plain(Plain(jnp.ones(3)), Plain(jnp.zeros(3)))
polyak(Net(k1), Net(k2), 0.1)
