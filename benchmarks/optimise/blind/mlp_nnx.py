import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, din, dmid, dout, *, rngs):
        self.l1 = nnx.Linear(din, dmid, rngs=rngs)
        self.l2 = nnx.Linear(dmid, dout, rngs=rngs)

    def __call__(self, x):
        return self.l2(nnx.gelu(self.l1(x)))


def mse(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def main():
    model = MLP(8, 64, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    rng = np.random.default_rng(1)
    x_all = rng.normal(size=(512, 8)).astype("float32")
    y_all = x_all.sum(1, keepdims=True)
    for step in range(200):
        i = rng.integers(0, 512, size=32)
        xb, yb = jnp.asarray(x_all[i]), jnp.asarray(y_all[i])
        loss, grads = nnx.value_and_grad(mse)(model, xb, yb)
        optimizer.update(model, grads)
        if step % 50 == 0:
            print(step, float(loss))


if __name__ == "__main__":
    main()
