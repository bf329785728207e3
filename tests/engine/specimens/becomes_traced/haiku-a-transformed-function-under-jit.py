# haiku: a transformed function under jit
import haiku as hk
import jax
import jax.numpy as jnp

def forward(x, is_training):
    if is_training:
        x = x * 2
    if x.mean() > 0:  # finding: tracer-branch
        x = -x
    return hk.Linear(3)(x)

net = hk.without_apply_rng(hk.transform(forward))
params = {"linear": {"w": jnp.ones((2, 3)), "b": jnp.ones(3)}}
jax.jit(net.apply, static_argnums=2)(params, jnp.ones((1, 2)), True)
