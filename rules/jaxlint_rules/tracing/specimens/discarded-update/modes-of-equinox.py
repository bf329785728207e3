# modes of equinox, which are set in a copy of the model

import equinox as eqx
import jax


def test(model, xs):
    eqx.nn.inference_mode(model)  # finding
    return jax.vmap(model)(xs)


def tested(model, xs):
    model = eqx.nn.inference_mode(model)
    return jax.vmap(model)(xs)
