"""`loss-by-parts`: a cross-entropy by parts of the examples is the same in value and gradient, or stays with a reason."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.codemods.memory.loss_by_parts import find_losses
from jaxlint.codemods.memory.row_losses import Setting
from jaxlint.codemods.source.site import Site
from tests.engine.codemods.conftest import Rewrite, source_file

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HEAD = """
import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from optax import softmax_cross_entropy_with_integer_labels as cross_entropy

def loss(params, x, labels):
"""
CLASSES = 7


def body(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" if line else "\n" for line in text.strip().splitlines())


NAMED = """
h = jnp.tanh(x)
logits = h @ params["head"]
return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
"""
WRITTEN = """
h = jnp.tanh(x)

@jax.checkpoint
def losses(part):
    h, labels = part
    logits = h @ params["head"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)

return jax.lax.map(losses, (h, labels), batch_size=3).mean()
"""
ONE_HOT = """
h = jnp.tanh(x)
# [examples, classes]
logits = h @ params["head"]  # float32
log_probabilities = jax.nn.log_softmax(logits)
scale = 1.0 / labels.size
picked = jax.nn.one_hot(labels, 7) * log_probabilities

return -jnp.sum(jnp.sum(picked, axis=-1)) * scale
"""
ONE_HOT_WRITTEN = """
h = jnp.tanh(x)
scale = 1.0 / labels.size

@jax.checkpoint
def losses(part):
    h, labels = part
    # [examples, classes]
    logits = h @ params["head"]  # float32
    log_probabilities = jax.nn.log_softmax(logits)
    picked = jax.nn.one_hot(labels, 7) * log_probabilities
    return jnp.sum(picked, axis=-1)

return -jnp.sum(jax.lax.map(losses, (h, labels), batch_size=3)) * scale
"""


def spelled(marked: str) -> str:
    """A body whose scores are those of `x @ params["head"]`, perhaps with a bias."""
    return f'logits = x @ params["head"] + params["bias"]\n{marked}'


ANY_SHAPE = {
    "optax": NAMED,
    "optax, biased, weighted": """
scores = jnp.dot(x, params["head"]) + params["bias"]
weight = labels > 2
return (weight * cross_entropy(logits=scores, labels=labels)).sum()
""",
    "optax, inline": """
return optax.softmax_cross_entropy_with_integer_labels(jnp.tanh(x) @ params["head"], labels).mean()
""",
    "optax, one-hot": spelled("return optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, 7)).mean()"),
    "one-hot": ONE_HOT,
    "one-hot of as many classes as scores": spelled("""
targets = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
return -(targets * jax.nn.log_softmax(logits, axis=-1)).sum(axis=-1).mean()""").replace(
        ", dtype=logits.dtype", ""
    ),
    "the mean over all classes": spelled(
        "picked = jax.nn.one_hot(labels, 7) * jax.nn.log_softmax(logits)\nreturn -picked.mean() * 7"
    ),
    "the sum over all at once": spelled(
        "return -jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 7)) / labels.size"
    ),
    "taken along the axis": spelled("""
log_probabilities = jax.nn.log_softmax(logits / 2.0)
nll = -jnp.take_along_axis(log_probabilities, labels[..., None], axis=-1).squeeze(-1)
return jnp.sum(nll * (labels != 0)) / jnp.sum(labels != 0)"""),
    "an axis left": spelled(
        "return -jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.expand_dims(labels, -1), -1).mean()"
    ),
    "logsumexp less what is picked": spelled("""
picked = jnp.take_along_axis(logits, labels[..., jnp.newaxis], axis=-1)[..., 0]
losses = jax.nn.logsumexp(logits, axis=-1) - picked
return losses.mean()"""),
    "by hand": spelled("""
logits = logits.astype(jnp.float32)
logits = logits - jax.lax.stop_gradient(logits.max(axis=-1, keepdims=True))
index = labels[..., None]
loss = jnp.log(jnp.sum(jnp.exp(logits), axis=-1)) - jnp.take_along_axis(logits, index, axis=-1)[..., 0]
return loss.mean()"""),
    "over several lines": spelled("""
nll = (
    jax.nn.logsumexp(logits, axis=-1)
    - jnp.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
)
return nll.mean()"""),
    "operands that are no names": """
batch = {"x": x, "y": labels}
return (-jnp.sum(jax.nn.one_hot(batch["y"], 7) * jax.nn.log_softmax((batch["x"] * 2) @ params["head"]), -1)).mean()
""",
}
OF_SOME = {
    "the next token": spelled("""
losses = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], labels[:, 1:])
return losses.mean()"""),
    "the next token, by hand": """
logits = (jnp.tanh(x) * 2) @ params["head"]
logits = logits[:, :-1, :]
targets = jax.nn.one_hot(labels[:, 1:], logits.shape[-1])
return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1))
""",
    "twice": spelled("""
picked = jnp.take_along_axis(logits[1:], labels[1:][..., None], axis=-1)[..., 0]
return (jax.nn.logsumexp(logits[1:], axis=-1) - picked).mean()"""),
}
ROWS_ALONE = {
    "the second axis": spelled("""
nll = -jnp.take_along_axis(jax.nn.log_softmax(logits, axis=1), labels[:, None], axis=1)[:, 0]
return nll.mean()"""),
    "an index for each row": spelled(
        "return -jax.nn.log_softmax(logits)[jnp.arange(labels.shape[0]), labels].mean()"
    ),
    "a column of labels": spelled(
        "return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels.reshape(-1, 1), axis=1).mean()"
    ),
    "as many classes as the second axis": spelled(
        "return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, logits.shape[1]) * jax.nn.log_softmax(logits), axis=1))"
    ),
    "a column of the labels of a batch": """
batch = {"x": x, "y": labels}
logits = batch["x"] @ params["head"]
return -jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.reshape(batch["y"], (-1, 1)), axis=1).mean()
""",
}
LAYERS = {
    "nnx": """
model = nnx.Linear(4, 7, rngs=nnx.Rngs(0))
nnx.update(model, {"kernel": params["head"], "bias": params["bias"]})
logits = model(x)
return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
""",
    "equinox": """
model = eqx.nn.Linear(4, 7, key=jax.random.key(0))
model = eqx.tree_at(lambda m: (m.weight, m.bias), model, (params["head"].T, params["bias"]))
logits = jax.vmap(model)(x)
return -jnp.sum(jax.nn.one_hot(labels, 7) * jax.nn.log_softmax(logits), axis=1).mean()
""",
}


def line_of_scores(text: str) -> int:
    """The line of the product, or of the layer."""
    lines = text.splitlines()
    marks = ("@ params", "jnp.dot", "model(x)", "model(h)", "vmap(model)")
    return next(number for number, line in enumerate(lines, 1) if any(mark in line for mark in marks))


def rewritten(rewrite: Rewrite, text: str, setting: Setting) -> str:
    """The source with the loss that is found mapped over parts of three examples."""
    site = Site(source_file(text))
    (span,) = find_losses(site, line_of_scores(text), setting)
    start, end = site.lines.range(span)
    marked = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    return rewrite("loss-by-parts", marked, examples=3, rank=setting.rank, layer=setting.layer)


def check_same(text: str, found: str, shape: tuple[int, ...]) -> None:
    """Both sources give the same loss and gradients."""
    params = {"head": jax.random.normal(jax.random.key(0), (4, CLASSES)), "bias": jnp.arange(7.0)}
    x = jax.random.normal(jax.random.key(1), (*shape, 4))
    labels = jax.random.randint(jax.random.key(2), shape, 0, CLASSES)
    steps = []
    for source in (text, found):
        names: dict[str, Any] = {}
        exec(source, names)
        steps.append(jax.value_and_grad(names["loss"], (0, 1)))
    results = jax.jit(lambda *given: [step(*given) for step in steps])(params, x, labels)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), *results)


@pytest.mark.parametrize(
    ("text", "written"), [(NAMED, WRITTEN), (ONE_HOT, ONE_HOT_WRITTEN)], ids=["optax", "one-hot"]
)
def test_what_is_written(rewrite: Rewrite, text: str, written: str) -> None:
    assert rewritten(rewrite, body(text), Setting()) == body(written)


@pytest.mark.parametrize("text", [*ANY_SHAPE.values(), *OF_SOME.values()], ids=[*ANY_SHAPE, *OF_SOME])
def test_it_computes_the_same(rewrite: Rewrite, text: str) -> None:
    found = rewritten(rewrite, body(text), Setting(2))
    assert "batch_size=3" in found
    check_same(body(text), found, (8, 5))


@pytest.mark.parametrize("text", ROWS_ALONE.values(), ids=ROWS_ALONE)
def test_it_computes_the_same_for_rows_alone(rewrite: Rewrite, text: str) -> None:
    found = rewritten(rewrite, body(text), Setting())
    assert "batch_size=3" in found
    check_same(body(text), found, (8,))


@pytest.mark.parametrize("text", LAYERS.values(), ids=LAYERS)
def test_the_scores_of_a_layer(rewrite: Rewrite, text: str) -> None:
    found = rewritten(rewrite, body(text), Setting(layer=True))
    assert "batch_size=3" in found
    check_same(body(text), found, (8,))
    assert not find_losses(Site(source_file(body(text))), line_of_scores(body(text)), Setting())


PICKED = spelled("return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NAMED.replace(".mean()", ".mean(), logits.argmax(-1)"), "`logits` is also used elsewhere"),
        (ONE_HOT.replace("scale\n", "scale, picked\n"), "`picked` is also used elsewhere"),
        (NAMED.replace("return", 'params["head"] = 2.0\nreturn'), "`params` is reassigned"),
        (NAMED.replace("return", "h = 2 * h\nreturn"), "`h` is reassigned"),
        (NAMED.replace('h @ params["head"]', '(h @ params["head"]) * h.sum()'), "also uses `h` in another way"),
    ],
)  # fmt: skip
def test_it_says_why_not(rewrite: Rewrite, text: str, reason: str) -> None:
    found = rewritten(rewrite, body(text), Setting())
    assert found.startswith("refused: ")
    assert reason in found


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        (NAMED.replace('h @ params["head"]', "model(h)"), 1),
        (NAMED.replace("return optax", "return (lambda: optax").replace(".mean()", ".mean())()"), 1),
        (NAMED.replace("labels)", "labels, axis=0)"), 1),
        (PICKED, 2),  # the function is under vmap: what it takes for the second axis is another one
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits, axis=0)"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits - logits.mean())"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(jnp.cumsum(logits, 0))"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits)[::-1]"), 1),
        (PICKED.replace("log_softmax(logits)", "softmax(logits) / jax.nn.softmax(logits).sum()"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits) * x[:, :1]"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits[:, :-1])"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits[::2])"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits[:4]) - logits[4:]"), 1),
        (PICKED.replace("log_softmax(logits)", "log_softmax(logits[:1]) - logits"), 1),
        (spelled("return jax.nn.logsumexp(logits, axis=-1).mean()"), 1),
        (spelled("return jax.nn.logsumexp(logits) - logits[jnp.arange(8), labels].sum()"), 1),
        (spelled("return (jax.nn.log_softmax(logits)[jnp.arange(8), labels] * labels[:, None]).sum()"), 2),
    ],
)
def test_look_alikes_are_left_alone(rewrite: Rewrite, text: str, rank: int) -> None:
    if find_losses(Site(source_file(body(text))), line_of_scores(body(text)), Setting(rank)):
        assert rewritten(rewrite, body(text), Setting(rank)).startswith("refused: ")


def test_what_they_look_like_is_found() -> None:
    assert find_losses(Site(source_file(body(PICKED))), line_of_scores(body(PICKED)), Setting())
