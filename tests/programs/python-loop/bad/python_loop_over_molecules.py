# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def mlp_init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, (i, o)) / i**0.5 for k, i, o in zip(keys, sizes[:-1], sizes[1:])]


def radial_basis(dist, n=8, r_cut=4.0):
    centers = jnp.linspace(0.5, r_cut, n)
    return jnp.exp(-4.0 * (dist[..., None] - centers) ** 2)


def energy(params, coords):
    n = coords.shape[0]
    i, j = jnp.triu_indices(n, k=1)
    dist = jnp.linalg.norm(coords[i] - coords[j], axis=-1)
    h = radial_basis(dist).sum(axis=0)
    for w in params[:-1]:
        h = jnp.tanh(h @ w)
    return (h @ params[-1])[0]


@jax.jit
def batch_loss(params, coords, targets):
    preds = []
    for mol in coords:  # finding
        preds.append(energy(params, mol))  # finding-also
    return jnp.mean((jnp.stack(preds) - targets) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def sgd_step(params, coords, targets, lr=1e-2):
    grads = jax.grad(batch_loss)(params, coords, targets)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


if __name__ == "__main__":
    k_params, k_xyz = jax.random.split(jax.random.key(0))
    params = mlp_init(k_params, (8, 16, 1))
    xyz = jax.random.normal(k_xyz, (24, 5, 3))
    for _ in range(2):
        params = sgd_step(params, xyz, jnp.zeros(24))
    print(batch_loss(params, xyz, jnp.zeros(24)))
