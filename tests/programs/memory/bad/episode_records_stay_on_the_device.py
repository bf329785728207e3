# source: jax-ml/jax#10007
# blind: fourth
# missed: a list of arrays is what one should keep until the end; that these are large is in their shapes

import jax
import jax.numpy as jnp


class Recorder:
    def __init__(self):
        self.records = []

    def record(self, **arrays):
        self.records.append(arrays)  # finding

    def mean_return(self):
        return float(jnp.stack([r["ret"] for r in self.records]).mean())


@jax.jit
def play(params, key):
    def body(obs, key):
        action = jnp.tanh(obs @ params) + 0.1 * jax.random.normal(key, obs.shape)
        obs = obs + 0.1 * action
        return obs, (obs, action, -jnp.sum(obs**2, -1))

    obs = jax.random.normal(key, (64, 32))
    _, (obs, actions, rewards) = jax.lax.scan(body, obs, jax.random.split(key, 200))
    return obs, actions, rewards.sum(0).mean()


class Runner:
    def __init__(self, params):
        self.params = params
        self.recorder = Recorder()

    def run(self, key, episodes):
        for i in range(episodes):
            obs, actions, ret = play(self.params, jax.random.fold_in(key, i))
            self.recorder.record(obs=obs, actions=actions, ret=ret)  # finding-also
        return self.recorder.mean_return()


if __name__ == "__main__":
    print(Runner(jnp.eye(32) * -0.5).run(jax.random.key(0), 10))
