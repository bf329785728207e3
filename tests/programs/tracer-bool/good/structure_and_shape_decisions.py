# source: jax-ml/jax#4718
# blind: sixth

"""Decisions on what is known while tracing."""
import jax
import jax.numpy as jnp


def pool(x, mask=None, *, method="mean"):
    if x.ndim == 2:
        x = x[None]
    if mask is not None and mask.shape != x.shape[:-1]:
        raise ValueError("mask")
    if method == "mean":
        total = x.sum(1) if mask is None else (x * mask[..., None]).sum(1)
        return total / x.shape[1]
    return x.max(1)


@jax.jit
def forward(params, batch):
    h = batch["x"]
    for name, w in params.items():
        if name.startswith("dense"):
            h = jnp.tanh(h @ w)
    if "mask" in batch:
        return pool(h, batch["mask"])
    return pool(h, method="max")


if __name__ == "__main__":
    params = {"dense_0": jnp.ones((3, 4)), "dense_1": jnp.ones((4, 4))}
    print(forward(params, {"x": jnp.ones((2, 5, 3))}))
