# blind: tenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(1)(nn.BatchNorm(use_running_average=not train)(x))


model = Net()


@jax.jit  # finding-other
def step(params, stats, x):
    def loss(p):
        out, new = model.apply({"params": p, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])
        return jnp.mean(out**2), new["batch_stats"]

    (_, stats2), grads = jax.value_and_grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), stats2


v = model.init(jax.random.key(0), jnp.ones((4, 3)), train=False)
params, stats = v["params"], v["batch_stats"]
for i in range(3):
    params, stats = step(params, stats, jnp.ones((4, 3)) * i)
print(stats)
