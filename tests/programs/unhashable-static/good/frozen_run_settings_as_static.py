# source: jax-ml/jax#3701
# blind: third

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class EvalSettings:
    top_k: int
    temperature: float = 1.0
    stop_words: tuple = ()


@dataclasses.dataclass
class Ranker:
    weights: jax.Array
    settings: EvalSettings

    def __call__(self, queries):
        return rank(self.weights, queries, self.settings)


@functools.partial(jax.jit, static_argnames=["settings"])
def rank(weights, queries, settings):
    logits = queries @ weights / settings.temperature
    logits = logits.at[:, list(settings.stop_words)].set(-jnp.inf)
    return jax.lax.top_k(logits, settings.top_k)


def make_ranker(dim, stop_words, **overrides):
    settings = EvalSettings(top_k=2, stop_words=tuple(stop_words))
    return Ranker(jnp.eye(dim), dataclasses.replace(settings, **overrides))


if __name__ == "__main__":
    print(make_ranker(4, [0], temperature=0.5)(jnp.ones((3, 4))))
