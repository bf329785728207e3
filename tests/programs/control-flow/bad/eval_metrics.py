# source: jax-ml/jax#22045
# blind: twentieth

"""Masked evaluation of a classifier with a scan over padded batches."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

CLASSES, BATCH = 5, 32


@struct.dataclass
class Metrics:
    correct: jax.Array
    seen: jax.Array
    nll: jax.Array

    @classmethod
    def empty(cls):
        return cls(
            correct=jnp.zeros((), jnp.int32),
            seen=jnp.zeros((), jnp.int32),  # finding
            nll=jnp.zeros((), jnp.float32),
        )

    def merge(self, other):
        return jax.tree.map(lambda a, b: a + b, self, other)

    def summary(self):
        return {"accuracy": self.correct / self.seen, "nll": self.nll / self.seen}


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(CLASSES)(nn.relu(nn.Dense(32)(x)))


def pad_batches(x, y):
    """Cuts the data into full batches, the weight is 0.0 on rows of padding."""
    extra = -len(x) % BATCH
    weight = np.concatenate([np.ones(len(x)), np.zeros(extra)]).astype(np.float32)
    x = np.concatenate([x, np.zeros((extra,) + x.shape[1:], x.dtype)])
    y = np.concatenate([y, np.zeros(extra, y.dtype)])
    return tuple(a.reshape((-1, BATCH) + a.shape[1:]) for a in (x, y, weight))


def batch_metrics(logits, y, weight):
    logp = jax.nn.log_softmax(logits)
    nll = -jnp.take_along_axis(logp, y[:, None], axis=1)[:, 0]
    hit = jnp.argmax(logits, axis=-1) == y
    return Metrics(
        correct=jnp.sum(hit & (weight > 0)),
        seen=jnp.sum(weight),  # finding-also
        nll=jnp.sum(nll * weight),
    )


def make_evaluate(model):
    @jax.jit
    def evaluate(params, batches):
        def body(total, batch):
            x, y, weight = batch
            return total.merge(batch_metrics(model.apply(params, x), y, weight)), None  # finding-also

        total, _ = lax.scan(body, Metrics.empty(), batches)  # finding-also
        return total.summary()

    return evaluate


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 8)).astype(np.float32)
    y = rng.integers(0, CLASSES, 150).astype(np.int32)
    model = Classifier()
    params = model.init(jax.random.key(0), x[:1])
    print(make_evaluate(model)(params, pad_batches(x, y)))


if __name__ == "__main__":
    main()
