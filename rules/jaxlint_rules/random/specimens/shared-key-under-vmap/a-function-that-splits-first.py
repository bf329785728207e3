# a kernel that splits its key before it draws, for chains that share it, and for chains with a key of their own
import jax
import jax.numpy as jnp


def kernel(key, state):
    move_key, accept_key = jax.random.split(key)
    proposal = state + jax.random.normal(move_key, state.shape)
    accept = jax.random.uniform(accept_key) < jnp.exp(jnp.sum(state**2) - jnp.sum(proposal**2))
    return jnp.where(accept, proposal, state)


def score(key, theta):
    noise_key, _ = jax.random.split(key)
    return jnp.sum((theta + jax.random.normal(noise_key, theta.shape)) ** 2)


@jax.jit
def shared(key, states):
    def one_step(states, key):
        states = jax.vmap(lambda state: kernel(key, state))(states)  # finding
        return states, None

    return jax.lax.scan(one_step, states, jax.random.split(key, 10))[0]


@jax.jit
def own(key, states):
    def one_step(states, key):
        return jax.vmap(kernel)(jax.random.split(key, states.shape[0]), states), None

    return jax.lax.scan(one_step, states, jax.random.split(key, 10))[0]


@jax.jit
def compared(key, population):
    return jax.vmap(lambda theta: score(key, theta))(population)


print(shared(jax.random.key(0), jnp.ones((3, 2))), own(jax.random.key(0), jnp.ones((3, 2))))
print(compared(jax.random.key(0), jnp.ones((3, 2))))
