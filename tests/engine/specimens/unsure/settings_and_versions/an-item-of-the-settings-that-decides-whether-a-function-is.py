# an item of the settings that decides whether a function is jitted, and is tested in it
import argparse

import jax
import jax.numpy as jnp

def make_train(config):
    def train(key):
        x = jax.random.normal(key, (3,))
        if config["SAVE"]:
            print(f"{len(jnp.unique(x))} kept")
        if not config["FAST"] and x.sum() > 0:
            x = -x
        return x.sum()

    return train

def main(arguments):
    config = {key.upper(): value for key, value in vars(arguments).items()}
    key = jax.random.key(0)
    if config["SAVE"]:
        return make_train(config)(key)
    elif not config["FAST"]:
        return make_train(config)(key)
    else:
        train = jax.jit(make_train(config))
        return train(key)

parser = argparse.ArgumentParser()
parser.add_argument("--save", action="store_true")
parser.add_argument("--fast", action="store_true")
main(parser.parse_args([]))
