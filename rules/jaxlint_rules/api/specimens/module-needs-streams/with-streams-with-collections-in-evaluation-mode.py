# with streams, with collections, in evaluation mode

import flax.linen as nn
import jax

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)

def losses(variables, x, key, flag):
    a, _ = Net().apply(variables, x, train=True, rngs={"dropout": key}, mutable=["batch_stats"])
    b = Net().apply(variables, x, train=False)
    c = Net().apply(variables, x, train=flag)
    return a.sum() + b.sum() + c.sum()
