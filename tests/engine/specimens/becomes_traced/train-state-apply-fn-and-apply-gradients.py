# train_state.apply_fn and apply_gradients
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(3)(x)
        return nn.Dropout(0.1, deterministic=not train)(x)

def create(key):
    net = Net()
    params = net.init(key, jnp.ones((1, 2)), train=False)["params"]
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(1e-3))

@jax.jit
def step(state, x, key):
    def loss(params):
        logits = state.apply_fn({"params": params}, x, train=True, rngs={"dropout": key})
        return logits.sum()

    value, grads = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=grads), value

state, value = step(create(jax.random.key(0)), jnp.ones((4, 2)), jax.random.key(1))
if value > 0:
    print(float(value))
