# dropout without keys, batch statistics that cannot be written

import flax.linen as nn
import jax

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(8)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)

class Normed(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        return nn.BatchNorm(use_running_average=not train)(x)

def losses(variables, x):
    a = Net().apply(variables, x, train=True)  # finding
    b = Normed().apply(variables, x, train=True)  # finding
    return a.sum() + b[0].sum()
