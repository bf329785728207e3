# source: pyro-ppl/numpyro#441
# blind: eleventh

"""Jit of a closure keeps what self had at the first call."""
import jax
import jax.numpy as jnp


def mlp(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


class Policy:
    def __init__(self, key, obs_dim, actions):
        k1, k2 = jax.random.split(key)
        self.params = {
            "w1": jax.random.normal(k1, (obs_dim, 32)) * 0.1,
            "w2": jax.random.normal(k2, (32, actions)) * 0.1,
        }
        self._logits = jax.jit(lambda obs: mlp(self.params, obs))  # finding

    def logits(self, obs):
        return self._logits(obs)

    def update(self, obs, actions, returns, lr=1e-2):
        def loss(params):
            logp = jax.nn.log_softmax(mlp(params, obs))
            chosen = jnp.take_along_axis(logp, actions[:, None], axis=1)[:, 0]
            return -jnp.mean(chosen * returns)

        grads = jax.jit(jax.grad(loss))(self.params)
        self.params = jax.tree.map(lambda p, g: p - lr * g, self.params, grads)


if __name__ == "__main__":
    policy = Policy(jax.random.key(0), 4, 2)
    obs = jnp.ones((8, 4))
    before = policy.logits(obs)
    policy.update(obs, jnp.zeros(8, jnp.int32), jnp.ones(8), lr=1.0)
    print(jnp.abs(policy.logits(obs) - before).max())
