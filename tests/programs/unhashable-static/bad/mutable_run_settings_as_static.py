# source: jax-ml/jax#3701
# blind: third

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class EvalSettings:
    top_k: int
    temperature: float = 1.0
    normalise: bool = True


class Ranker:
    def __init__(self, weights, settings):
        self.weights = weights
        self.settings = settings

    def __call__(self, queries):
        return rank(self.weights, queries, self.settings)  # finding


@functools.partial(jax.jit, static_argnames=["settings"])
def rank(weights, queries, settings):  # finding-also
    logits = queries @ weights / settings.temperature
    if settings.normalise:
        logits = jax.nn.log_softmax(logits)
    return jax.lax.top_k(logits, settings.top_k)


def make_ranker(dim, **overrides):
    settings = EvalSettings(top_k=2)
    return Ranker(jnp.eye(dim), dataclasses.replace(settings, **overrides))


if __name__ == "__main__":
    print(make_ranker(4, temperature=0.5)(jnp.ones((3, 4))))
