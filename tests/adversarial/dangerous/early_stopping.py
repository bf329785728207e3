# function: evaluate
# arguments: w=array, x=array, y=array, epoch=int
# refused: may return a Python number

"""An evaluation that returns which epoch it was, for names of files."""

import jax
import jax.numpy as jnp


def evaluate(w, x, y, epoch):
    value = jnp.mean((x @ w - y) ** 2)
    return {"loss": value, "epoch": epoch}


def main():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x @ jnp.ones(4)
    w = jnp.zeros(4)
    best = {"loss": jnp.inf, "epoch": -1}
    for epoch in range(40):
        w = w + 0.05 * (1.0 - w)
        result = evaluate(w, x, y, epoch)
        if result["loss"] < best["loss"]:
            best = result
        if epoch - best["epoch"] > 3:
            break
    print("best", f"checkpoint-{best['epoch']:03d}", best["loss"])


if __name__ == "__main__":
    main()
