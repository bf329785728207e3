# a call on the spot that gives a jitted function less than it takes
import jax

def make_train(config):
    def train(key, exposure, states, task):
        state = states[f"task_{task}"]
        return state if exposure == 0 else jax.random.normal(key)

    return train

def run(config, key, states):
    return [jax.jit(lambda k: make_train(config)(k, 0, states, task))(key) for task in range(3)]

def tune(config, key):
    return jax.jit(make_train(config))(key)
