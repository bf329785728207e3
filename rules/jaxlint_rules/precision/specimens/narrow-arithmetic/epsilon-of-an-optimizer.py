# optimizers whose `eps` is zero beside float16 parameters; larger ones, wider parameters, a sum under the root
import jax
import jax.numpy as jnp
import optax


def init_params(key, dtype):
    return {"w": jax.random.normal(key, (4, 2), dtype), "b": jnp.zeros(2, dtype)}


half = init_params(jax.random.key(0), jnp.float16)
wide = init_params(jax.random.key(0), jnp.float32)
brain = init_params(jax.random.key(0), jnp.bfloat16)


def direct():
    return optax.adam(1e-3).init(half)  # finding


def clipped():
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_rms(), optax.scale(-1e-3))  # finding
    return optimizer.init(half)


def given():
    optimizer = optax.adamw(1e-3, b1=0.9, eps=1e-9)  # finding
    return optimizer.init(half)


direct(), clipped(), given()
optax.adam(1e-3).init(wide)
optax.adam(1e-3).init(brain)
optax.adam(1e-3, eps=1e-4).init(half)
optax.adam(1e-3, 0.9, 0.999, 1e-4).init(half)
optax.adam(1e-3, eps_root=1e-6).init(half)
optax.sgd(1e-3).init(half)
optax.lamb(1e-3).init(half)
optax.adam(1e-3).init(jax.tree.map(lambda p: p.astype(jnp.float32), half))
