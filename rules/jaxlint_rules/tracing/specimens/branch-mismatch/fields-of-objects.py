# objects whose fields have other types, and objects that may be anything
import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class State:
    pos: jax.Array
    info: dict
    name: str = struct.field(pytree_node=False, default="a")


def fresh(key):
    return State(pos=jax.random.normal(key, (2,)), info={"done": jnp.bool_(False)})


def full(key):
    return State(pos=jax.random.normal(key, (2,)), info={"done": jnp.bool_(False), "energy": jnp.float32(0)})


def counted(key):
    return State(pos=jnp.arange(2), info={"done": jnp.bool_(False)})


def named(key):
    return fresh(key).replace(name="b")


@jax.jit
def step(done, key, state):
    first = jax.lax.cond(done, fresh, full, key)  # finding
    second = jax.lax.cond(done, fresh, counted, key)  # finding
    third = jax.lax.cond(done, lambda k: fresh(k), lambda k: fresh(k).replace(pos=jnp.zeros(2)), key)
    fourth = jax.lax.cond(done, lambda k: fresh(k), lambda k: state, key)
    return first, second, third, fourth


@jax.jit
def filled(done, key, verbose):
    info = {"done": jnp.bool_(False)}
    if verbose is not None:
        info["energy"] = jnp.float32(0)
    return jax.lax.cond(done, full, lambda k: State(pos=jnp.ones(2), info=info), key)
