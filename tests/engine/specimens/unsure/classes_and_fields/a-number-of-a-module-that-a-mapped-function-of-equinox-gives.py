# a number of a module that a mapped function of equinox gives
import equinox as eqx
import jax

class Rollout(eqx.Module):
    layer: eqx.nn.Linear
    steps: int

    def __call__(self, x, key):
        return jax.lax.scan(lambda x, key: (self.layer(x), x), x, jax.random.split(key, self.steps))

@eqx.filter_jit
def evaluate(model, x, keys):
    return eqx.filter_vmap(model)(x, keys)

def main(x, keys, others):
    models = eqx.filter_vmap(lambda key: Rollout(eqx.nn.Linear(3, 3, key=key), 10))(keys)
    return evaluate(models, x, others)
