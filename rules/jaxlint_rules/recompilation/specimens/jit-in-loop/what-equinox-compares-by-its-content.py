# what equinox compares by its content: methods of modules, and results of its own transformations

import equinox as eqx
import jax


class Model(eqx.Module):
    scale: float

    def step(self, x):
        return x * self.scale


def twice(x):
    return x * 2


def found_again(model, x):
    for _ in range(10):
        x = eqx.filter_jit(model.step)(x)
        x = eqx.filter_jit(eqx.filter_vmap(twice))(x)
        x = eqx.filter_pmap(eqx.filter_vmap(twice))(x[None])[0]
    return x


def compiled_again(model: Model, x):
    for _ in range(10):
        x = jax.jit(model.step)(x)  # finding
        x = eqx.filter_jit(eqx.filter_vmap(lambda y: twice(y)))(x)  # finding
    return x


print(found_again(Model(2.0), jax.numpy.ones(3)), compiled_again(Model(2.0), jax.numpy.ones(3)))
