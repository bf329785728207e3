# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


def neighbour_lists(pos, cutoff, width):
    n = len(pos)
    dist = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    out = np.full((n, width), n, np.int32)
    for i in range(n):
        near = [j for j in np.argsort(dist[i]) if j != i and dist[i, j] < cutoff]
        out[i, :min(width, len(near))] = near[:width]
    return out


def gather_neighbours(features, neighbours):
    return features.at[neighbours].get(mode="fill", fill_value=0.0)


@jax.jit
def mean_field(features, neighbours):
    valid = neighbours < features.shape[0]
    gathered = gather_neighbours(features, neighbours)
    count = jnp.maximum(valid.sum(axis=1), 1)
    return (gathered * valid[:, :, None]).sum(axis=1) / count[:, None]


def reference(features, neighbours):
    rows = []
    for row in neighbours:
        ids = row[row < len(features)]
        rows.append(features[ids].mean(axis=0) if len(ids) else np.zeros(features.shape[1]))
    return np.stack(rows)


def main():
    rng = np.random.default_rng(0)
    pos = rng.uniform(0.0, 4.0, size=(40, 3))
    features = rng.normal(size=(40, 5)).astype(np.float32)
    neighbours = neighbour_lists(pos, cutoff=1.3, width=8)
    field = mean_field(jnp.asarray(features), jnp.asarray(neighbours))
    error = np.abs(np.asarray(field) - reference(features, neighbours)).max()
    print("padded entries", int((neighbours == 40).sum()), "error", float(error))
    assert error < 1e-5


if __name__ == "__main__":
    main()
