# a method of one of two classes, whose key is another argument

import jax

class Buffer:
    def sample(self, key, size):
        return jax.random.randint(key, (size,), 0, 10)

class Table:
    def sample(self, size, key):
        return jax.random.normal(key, (size,))

def collect(state, config, key):
    def body(carry, _):
        carry, part = jax.random.split(carry)
        rows = state.buffer.sample(part, config.batch_size)
        return carry, rows
    return jax.lax.scan(body, key, None, length=8)
