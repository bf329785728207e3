"""The known activation functions by definition, in NumPy and in JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint_runtime.deferred_imports import deferred

special = deferred("scipy.special")


@dataclass(frozen=True)
class Activation:
    """An elementwise function. `call` is the way a person writes it."""

    name: str
    call: str
    reference: Callable[[np.ndarray], np.ndarray]
    compute: Callable[[Any], Any]  # on float32 arrays; operations that a TPU kernel can lower


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)))


IDENTITY = Activation("identity", "{}", lambda x: x, lambda x: x)

ACTIVATIONS = (
    Activation("relu", "jax.nn.relu({})", lambda x: np.maximum(x, 0.0), lambda x: jnp.maximum(x, 0.0)),
    Activation("silu", "jax.nn.silu({})", lambda x: x * special.expit(x), lambda x: x * jax.nn.sigmoid(x)),
    Activation("gelu", "jax.nn.gelu({})", _gelu_tanh, lambda x: jax.nn.gelu(x, approximate=True)),
    Activation(
        "exact gelu",
        "jax.nn.gelu({}, approximate=False)",
        lambda x: 0.5 * x * special.erfc(-x / np.sqrt(2.0)),
        lambda x: 0.5 * x * (1.0 + jax.lax.erf(x * float(np.sqrt(0.5)))),
    ),
    Activation("sigmoid", "jax.nn.sigmoid({})", lambda x: special.expit(x), jax.nn.sigmoid),
    Activation("tanh", "jnp.tanh({})", np.tanh, jnp.tanh),
    Activation(
        "squared relu",
        "jnp.square(jax.nn.relu({}))",
        lambda x: np.maximum(x, 0.0) ** 2,
        lambda x: jnp.square(jnp.maximum(x, 0.0)),
    ),
)
