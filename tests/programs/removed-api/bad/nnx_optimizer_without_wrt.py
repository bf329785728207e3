# source: google/flax#5060
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class VAEEncoder(nnx.Module):
    def __init__(self, d_in, d_latent, rngs):
        self.hidden = nnx.Linear(d_in, 32, rngs=rngs)
        self.mean = nnx.Linear(32, d_latent, rngs=rngs)
        self.log_var = nnx.Linear(32, d_latent, rngs=rngs)

    def __call__(self, x):
        h = nnx.relu(self.hidden(x))
        return self.mean(h), self.log_var(h)


def kl_loss(model, x):
    mean, log_var = model(x)
    return 0.5 * jnp.mean(jnp.exp(log_var) + mean**2 - 1.0 - log_var)


@nnx.jit
def train_step(model, optimizer, x):
    loss, grads = nnx.value_and_grad(kl_loss)(model, x)
    optimizer.update(grads)  # finding-also
    return loss


def main():
    model = VAEEncoder(8, 2, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3))  # finding
    x = jax.random.normal(jax.random.key(1), (16, 8))
    for _ in range(3):
        loss = train_step(model, optimizer, x)
    print(loss)


if __name__ == "__main__":
    main()
