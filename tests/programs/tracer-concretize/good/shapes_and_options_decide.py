# source: jax-ml/jax#8068
# blind: second

import enum
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np


class Reduce(enum.Enum):
    SUM = enum.auto()
    MEAN = enum.auto()
    NONE = enum.auto()


def chunked(x, size):
    n = math.ceil(x.shape[0] / size)
    pad = n * size - x.shape[0]
    if pad:
        x = jnp.pad(x, ((0, pad),) + ((0, 0),) * (x.ndim - 1))
    return x.reshape(n, size, *x.shape[1:]), pad


def focal_loss(logits, labels, gamma=2.0, alpha=None, reduce=Reduce.MEAN, weights=None):
    if logits.ndim == labels.ndim:
        labels = labels.argmax(-1)
    elif logits.ndim != labels.ndim + 1:
        raise ValueError(f"shapes {logits.shape} and {labels.shape} do not match")
    logp = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)[..., 0]
    loss = -((1 - jnp.exp(logp)) ** gamma) * logp
    if alpha is not None:
        loss = loss * jnp.asarray(alpha)[labels]
    if weights is not None and weights.size > 0:
        loss = loss * weights
    match reduce:
        case Reduce.SUM:
            return loss.sum()
        case Reduce.MEAN:
            return loss.mean()
        case Reduce.NONE:
            return loss


@functools.partial(jax.jit, static_argnames=("reduce", "chunk"))
def evaluate(logits, labels, reduce, chunk=4):
    blocks, pad = chunked(logits, chunk)
    targets, _ = chunked(labels[:, None], chunk)
    keep = np.arange(blocks.shape[0] * chunk).reshape(blocks.shape[:2]) < len(logits)

    def one(_, block):
        x, y, k = block
        return None, focal_loss(x, y[:, 0], reduce=Reduce.NONE, weights=k)

    _, losses = jax.lax.scan(one, None, (blocks, targets, jnp.asarray(keep)))
    flat = losses.reshape(-1)[: losses.size - pad] if pad else losses.reshape(-1)
    return flat if reduce is Reduce.NONE else flat.mean()


if __name__ == "__main__":
    logits = jax.random.normal(jax.random.key(0), (10, 5))
    labels = jnp.arange(10) % 5
    print(evaluate(logits, labels, Reduce.NONE).shape, evaluate(logits, labels, Reduce.MEAN))
