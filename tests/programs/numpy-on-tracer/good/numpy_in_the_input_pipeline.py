# source: google/jaxopt#210
# blind: sixth

"""Host pipeline and device step."""
import jax
import jax.numpy as jnp
import numpy as np


def batches(data, size, rng):
    order = rng.permutation(len(data))
    for start in range(0, len(data) - size + 1, size):
        chunk = data[order[start : start + size]]
        yield np.stack([np.clip(row, -3.0, 3.0) for row in chunk])


@jax.jit  # finding-other
def step(mean, x):
    return 0.9 * mean + 0.1 * jnp.mean(x, axis=0)


def main():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(32, 3)).astype(np.float32)
    mean = jnp.zeros(3)
    for x in batches(data, 8, rng):
        mean = step(mean, x)
    print(np.round(np.asarray(mean), 3))


if __name__ == "__main__":
    main()
