# function: clean
# arguments: x=array
# refused: seen.append(

"""A default argument remembers the sums so far."""

import jax
import jax.numpy as jnp


def running_mean(x, seen=[]):
    seen.append(x.mean())
    return x - sum(seen) / len(seen)


def clean(x):
    return jnp.tanh(running_mean(x))


def main():
    key = jax.random.key(0)
    for number in range(50):
        x = jax.random.normal(jax.random.fold_in(key, number), (64,)) + number
        y = clean(x)
    print("y", y.mean())


if __name__ == "__main__":
    main()
