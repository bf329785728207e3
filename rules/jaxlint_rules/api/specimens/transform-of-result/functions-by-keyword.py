# functions and modules that are passed by their keyword
import flax.linen as nn
import jax
import jax.numpy as jnp


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)


class Ensemble(nn.Module):
    def setup(self):
        several = nn.vmap(
            target=Critic, in_axes=None, variable_axes={"params": 0}, split_rngs={"params": True}, axis_size=4
        )
        self.critics = several()

    def __call__(self, x):
        return self.critics(x)


scaled = jnp.vectorize(pyfunc=lambda x: 2 * x)
model = Ensemble()
variables = model.init(jax.random.key(0), jnp.ones((2, 3)))
print(model.apply(variables, scaled(jnp.ones((2, 3)))).shape)
