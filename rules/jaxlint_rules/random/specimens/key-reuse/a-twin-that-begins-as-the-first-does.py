# a twin that begins as the first does

import jax

def create_state(key, size):
    return jax.random.normal(key, (size,))

class Agent:
    def __init__(self, key):
        self.critic = create_state(key, 3)
        self.target_critic = create_state(key, 3)
        self.actor = create_state(key, 3)  # finding

def noise(key):
    return jax.random.normal(key) - jax.random.normal(key)  # finding

Agent(jax.random.key(0)), noise(jax.random.key(1))
