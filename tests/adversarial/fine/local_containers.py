# function: forward
# arguments: params=list, x=array

"""Lists and dictionaries that the function makes itself may be filled."""

import jax
import jax.numpy as jnp


def init(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, part = jax.random.split(key)
        params.append({"w": jax.random.normal(part, (n_in, n_out)) / n_in**0.5, "b": jnp.zeros(n_out)})
    return params


def forward(params, x):
    kept = {}
    hidden = []
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
        hidden.append(x.mean())
    kept["mean"] = jnp.stack(hidden).mean()
    last = params[-1]
    return x @ last["w"] + last["b"], kept


def main():
    params = init(jax.random.key(0), [8, 16, 16, 2])
    x = jax.random.normal(jax.random.key(1), (32, 8))
    for number in range(40):
        y, kept = forward(params, x * number / 40)
    print("y", y.sum(), kept["mean"])


if __name__ == "__main__":
    main()
