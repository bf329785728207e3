# what flax's remat left concrete when it was asked to
from functools import partial
import flax.linen as nn

class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic=True):
        x = nn.Dense(4)(x)
        return x if deterministic else x + 1

class Model(nn.Module):
    remat: bool = False

    @nn.compact
    def __call__(self, x, deterministic: bool = True):
        wrap = partial(nn.remat, concrete=True) if self.remat else lambda cls: cls
        return wrap(Layer)()(x, deterministic=deterministic)
