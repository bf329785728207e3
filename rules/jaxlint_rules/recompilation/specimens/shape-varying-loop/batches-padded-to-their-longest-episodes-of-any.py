# batches padded to their longest, episodes of any length

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def collate(texts):
    longest = max(len(text) for text in texts)
    out = np.zeros((len(texts), longest))
    for row, text in enumerate(texts):
        out[row, : len(text)] = text
    return out

def batches(corpus, size):
    for start in range(0, len(corpus), size):
        yield collate(corpus[start : start + size])

def rollout(env):
    seen, rewards, done = [], [], False
    while not done:
        obs, reward, done = env.step()
        seen.append(obs)
        rewards.append(reward)
    return np.stack(seen), np.sum(rewards)

def train(corpus, env, n):
    for batch in batches(corpus, 8):
        score(batch)  # finding
    for _ in range(n):
        seen, total = rollout(env)
        score(seen)  # finding
        score(total)
