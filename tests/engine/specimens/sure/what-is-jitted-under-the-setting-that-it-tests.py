# what is jitted under the setting that it tests
import argparse

import jax
import jax.numpy as jnp

def make_train(config):
    def train(key):
        x = jax.random.normal(key, (3,))
        if config["SAVE"]:
            print(f"{len(jnp.unique(x))} kept")  # finding: dynamic-shape
        return x.sum()

    return train

def main(arguments):
    config = {key.upper(): value for key, value in vars(arguments).items()}
    train = make_train(config)
    if config["SAVE"]:
        train = jax.jit(make_train(config))
    return train(jax.random.key(0))

parser = argparse.ArgumentParser()
parser.add_argument("--save", action="store_true")
main(parser.parse_args([]))
