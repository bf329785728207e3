# what a ReLU gives

import flax.linen as nn
import jax
import jax.numpy as jnp

class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(8)(x))
        return h / jnp.linalg.norm(h, axis=-1, keepdims=True)  # finding

def by_hand(w, x):
    h = jnp.maximum(x @ w, 0.0)
    return h / jnp.sqrt(jnp.sum(h**2, axis=-1, keepdims=True))  # finding

def linear(w, x):
    h = nn.relu(x @ w) + 1.0
    return h / jnp.linalg.norm(h) + nn.relu(x @ w) * jnp.linalg.norm(nn.relu(x @ w), ord=1) + jnp.linalg.norm(nn.relu(x @ w))

def loss(params, model, w, x):
    return jnp.sum(model.apply(params, x)) + jnp.sum(by_hand(w, x)) + jnp.sum(linear(w, x))

def main(x):
    model = Encoder()
    params = model.init(jax.random.key(0), x)
    print(jnp.linalg.norm(nn.relu(x)))
    return jax.grad(loss, argnums=(0, 2))(params, model, jnp.ones((3, 8)), x)

main(jnp.ones((4, 3)))
