# NumPy lifts bfloat16 on the host

import jax
import jax.numpy as jnp
import numpy as np

HALF = jnp.bfloat16


@jax.jit
def model(x):
    return jnp.tanh(x)


def normalise(audio):
    audio = np.asarray(audio).astype(HALF)
    return (audio - 0.5) * 2  # finding


def shifted(n):
    steps = np.arange(n).astype(HALF)
    return jnp.asarray(1.0 - steps)  # finding


def scaled(n):
    table = np.ones(n, dtype=HALF)
    return model(table * 0.25)  # finding


def cast_back(audio):
    audio = np.asarray(audio).astype(HALF)
    return ((audio - 0.5) * 2).astype(HALF)


def counted(n):
    return model(np.ones(n, HALF) * 2 + np.ones(n, HALF))


def on_the_device(audio):
    return model(jnp.asarray(audio, HALF) / 255.0)


def asked_for(n):
    return jnp.asarray(np.ones(n, HALF) / 3.0, dtype=HALF)


def plotted(audio):
    print((np.asarray(audio).astype(HALF) / 3.0).mean())


raw = np.arange(8)
print(model(normalise(raw)).dtype, shifted(3).dtype, scaled(3).dtype)
print(model(cast_back(raw)).dtype, counted(3).dtype, on_the_device(raw).dtype, asked_for(3).dtype)
plotted(raw)
