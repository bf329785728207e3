# a key that lives in a table of a state, renewed where it is used
import jax

class Env:
    def noise(self, info, value, scale):
        info["rng"], sub = jax.random.split(info["rng"])
        return value + scale * jax.random.normal(sub, value.shape)

    def step(self, state, action):
        state.info["rng"], first, second = jax.random.split(state.info["rng"], 3)
        push = jax.random.normal(first) + jax.random.uniform(second)
        position = self.noise(state.info, action, 0.1)
        velocity = self.noise(state.info, action, 0.2)
        state.key, sub = jax.random.split(state.key)
        state.key, other = jax.random.split(state.key)
        return position + velocity + push, jax.random.normal(sub), jax.random.normal(other)
