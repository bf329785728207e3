# source: jax-ml/jax#3701

import functools

import jax
import jax.numpy as jnp

DEFAULTS = {"heads": 2, "causal": True}


@functools.partial(jax.jit, static_argnames=["options"])
def attention(x, w, options):
    b, t, d = x.shape
    h = options["heads"]
    q = (x @ w).reshape(b, t, h, d // h)
    scores = jnp.einsum("bthd,bshd->bhts", q, q)
    if options["causal"]:
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), q).reshape(b, t, d)


def forward(params, x, **overrides):
    options = {**DEFAULTS, **overrides}
    for w in params:
        x = x + attention(x, w, options=options)  # finding
    return x


if __name__ == "__main__":
    print(forward([jnp.eye(8)] * 2, jnp.ones((2, 5, 8)), causal=False).shape)
