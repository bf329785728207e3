# blind: tenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(16)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(1)(nn.relu(x))


model = Net()


def loss_fn(params, stats, x, y):
    out, _ = model.apply({"params": params, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])  # finding
    return jnp.mean((out[:, 0] - y) ** 2)


@jax.jit  # finding-other
def step(params, stats, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss_fn)(params, stats, x, y))


variables = model.init(jax.random.key(0), jnp.ones((4, 3)), train=False)
params, stats = variables["params"], variables["batch_stats"]
for i in range(3):
    params = step(params, stats, jnp.ones((4, 3)) * i, jnp.ones(4))
print(model.apply({"params": params, "batch_stats": stats}, jnp.ones((4, 3)), train=False).shape)
