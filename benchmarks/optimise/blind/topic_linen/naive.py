"""Topics of short texts: embeddings and attention pooling, flax linen and optax."""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

VOCAB, TOPICS, LENGTH = 800, 8, 24


class Encoder(nn.Module):
    hidden: int
    topics: int
    dropout: float = 0.1

    @nn.compact
    def __call__(self, tokens, train):
        mask = tokens > 0
        x = nn.Embed(VOCAB, self.hidden)(tokens)
        for _ in range(2):
            y = nn.LayerNorm()(x)
            y = nn.SelfAttention(num_heads=4, qkv_features=self.hidden)(y, mask=mask[:, None, None, :])
            x = x + nn.Dropout(self.dropout, deterministic=not train)(y)
            y = nn.LayerNorm()(x)
            y = nn.Dense(2 * self.hidden)(y)
            x = x + nn.Dense(self.hidden)(nn.gelu(y))
        weights = jnp.where(mask, nn.Dense(1)(x)[..., 0], -1e9)
        pooled = jnp.einsum("bl,blh->bh", nn.softmax(weights), x)
        return nn.Dense(self.topics)(pooled)


class TrainState(train_state.TrainState):
    key: jax.Array


def make_texts(count, seed):
    rng = np.random.default_rng(seed)
    mixtures = np.random.default_rng(7).dirichlet(np.full(VOCAB - 1, 0.05), size=TOPICS)
    topics = rng.integers(0, TOPICS, count)
    tokens = np.zeros((count, LENGTH), np.int64)
    for i, topic in enumerate(topics):
        length = rng.integers(8, LENGTH + 1)
        tokens[i, :length] = 1 + rng.choice(VOCAB - 1, size=length, p=mixtures[topic])
    return tokens, topics


def batches(tokens, topics, size, rng):
    order = rng.permutation(len(tokens))
    for start in range(0, len(tokens) - size + 1, size):
        rows = order[start : start + size]
        yield {"tokens": tokens[rows], "topic": topics[rows]}


def loss_fn(params, state, batch, key):
    logits = state.apply_fn({"params": params}, batch["tokens"], train=True, rngs={"dropout": key})
    labels = optax.smooth_labels(jax.nn.one_hot(batch["topic"], TOPICS), 0.1)
    loss = optax.softmax_cross_entropy(logits, labels).mean()
    return loss, logits


def train_step(state, batch):
    key = jax.random.fold_in(state.key, state.step)
    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params, state, batch, key)
    state = state.apply_gradients(grads=grads)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == batch["topic"])
    return state, {"loss": loss, "accuracy": accuracy}


def evaluate(state, tokens, topics, size):
    correct = 0
    for start in range(0, len(tokens), size):
        logits = state.apply_fn({"params": state.params}, tokens[start : start + size], train=False)
        correct += int(jnp.sum(jnp.argmax(logits, -1) == topics[start : start + size]))
    return correct / len(tokens)


def main():
    tokens, topics = make_texts(640, 0)
    test_tokens, test_topics = make_texts(256, 1)
    model = Encoder(hidden=64, topics=TOPICS)
    key = jax.random.PRNGKey(0)
    key, init_key = jax.random.split(key)
    params = model.init(init_key, jnp.ones((1, LENGTH), jnp.int32), train=False)["params"]
    schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-3, 10, 80)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-2))
    state = TrainState.create(apply_fn=model.apply, params=params, tx=tx, key=key)
    rng = np.random.default_rng(3)
    started = time.time()
    for epoch in range(4):
        history = []
        for batch in batches(tokens, topics, 32, rng):
            state, metrics = train_step(state, batch)
            history.append({k: float(v) for k, v in metrics.items()})
        loss = np.mean([h["loss"] for h in history])
        accuracy = np.mean([h["accuracy"] for h in history])
        test = evaluate(state, test_tokens, test_topics, 64)
        print(f"epoch {epoch + 1}: loss {loss:.3f}, accuracy {accuracy:.3f}, test {test:.3f}")
    assert time.time() > started


if __name__ == "__main__":
    main()
