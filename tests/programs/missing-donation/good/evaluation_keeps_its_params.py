# blind: fifth

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_jit
def evaluate(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean((pred - y) ** 2)


@jax.jit
def rollout(params, obs):
    def body(obs, _):
        action = jnp.tanh(obs @ params)
        return obs + 0.1 * action, action

    return jax.lax.scan(body, obs, None, length=20)


def main():
    model = eqx.nn.MLP(4, 1, 64, 2, key=jax.random.key(0))
    scores = [evaluate(model, jnp.ones((8, 4)) * i, jnp.zeros((8, 1))) for i in range(3)]
    params = jnp.eye(4)
    finals = [rollout(params, jnp.full(4, float(i)))[0] for i in range(3)]
    print(jnp.stack(scores), jnp.stack(finals).shape)


if __name__ == "__main__":
    main()
