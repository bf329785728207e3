# models of flax, haiku and equinox in evaluation, generation and a policy

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))


model = Net()
critic = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([64, 4])(x)))


def evaluate(params, batches):
    correct, total = 0, 0
    for x, y in batches:
        logits = model.apply({"params": params}, x)  # finding
        correct += int((logits.argmax(-1) == y).sum())
        total += len(y)
    return correct / total


def act(params, observation):
    return int(jnp.argmax(critic.apply(params, observation[None]), -1)[0])  # finding


class Classifier(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __call__(self, x):
        return self.second(jax.nn.relu(self.first(x)))


def rollout(env, params):
    observation = env.reset()
    for _ in range(10_000):
        observation, _, done, _ = env.step(act(params, observation))
        if done:
            observation = env.reset()


def main(batches, env):
    key = jax.random.key(0)
    x = jnp.ones((1, 8))
    print(evaluate(model.init(key, x)["params"], batches))
    rollout(env, critic.init(key, x))
    keys = jax.random.split(key)
    classifier = Classifier(eqx.nn.Linear(8, 64, key=keys[0]), eqx.nn.Linear(64, 2, key=keys[1]))
    predictions = []
    for x, _ in batches:
        predictions.append(jax.vmap(classifier)(x))  # finding
    apply = lambda params, x: model.apply({"params": params}, x)  # finding
    params = model.init(key, jnp.ones((1, 8)))["params"]
    loss = loss_of(apply)
    total = 0.0
    for x, y in batches:
        total += loss(params, x, y)
    return predictions, total


def loss_of(apply):
    def loss(params, x, y):
        return jnp.mean((apply(params, x) - y) ** 2)

    return loss


if __name__ == "__main__":
    from data import batches, env

    main(batches, env)
