# blind: sixteenth

"""The update phase of PPO: several epochs over shuffled minibatches, all in scan."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

OBS, ACTIONS, HIDDEN = 8, 4, 64
EPOCHS, MINIBATCHES, CLIP = 4, 8, 0.2


class Batch(NamedTuple):
    obs: jax.Array
    action: jax.Array
    logp: jax.Array
    advantage: jax.Array
    returns: jax.Array


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "torso": jax.random.normal(k1, (OBS, HIDDEN)) * 0.3,
        "pi": jax.random.normal(k2, (HIDDEN, ACTIONS)) * 0.01,
        "v": jax.random.normal(k3, (HIDDEN, 1)) * 0.1,
    }


def network(params, obs):
    h = jnp.tanh(obs @ params["torso"])
    return jax.nn.log_softmax(h @ params["pi"]), (h @ params["v"])[..., 0]


def loss_fn(params, mb):
    logits, value = network(params, mb.obs)
    logp = jnp.take_along_axis(logits, mb.action[:, None], axis=1)[:, 0]
    ratio = jnp.exp(logp - mb.logp)
    adv = (mb.advantage - mb.advantage.mean()) / (mb.advantage.std() + 1e-8)
    policy = -jnp.minimum(ratio * adv, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * adv).mean()
    return policy + 0.5 * jnp.square(value - mb.returns).mean()


optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(2.5e-4, eps=1e-5))


def minibatch_step(carry, mb):
    params, opt_state = carry
    loss, grads = jax.value_and_grad(loss_fn)(params, mb)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return (optax.apply_updates(params, updates), opt_state), loss


@jax.jit
def update(params, opt_state, batch, rng):
    size = batch.obs.shape[0]

    def epoch(carry, _):
        params, opt_state, rng = carry
        _, shuffle_rng = jax.random.split(rng)  # finding
        order = jax.random.permutation(shuffle_rng, size)  # finding-also
        shuffled = jax.tree.map(lambda x: x[order], batch)
        minibatches = jax.tree.map(
            lambda x: x.reshape((MINIBATCHES, size // MINIBATCHES) + x.shape[1:]), shuffled
        )
        (params, opt_state), losses = jax.lax.scan(minibatch_step, (params, opt_state), minibatches)
        return (params, opt_state, rng), losses.mean()  # finding-also

    (params, opt_state, rng), losses = jax.lax.scan(
        epoch, (params, opt_state, rng), None, length=EPOCHS
    )
    return params, opt_state, rng, losses


def fake_batch(key, n=512):
    ks = jax.random.split(key, 4)
    return Batch(
        jax.random.normal(ks[0], (n, OBS)),
        jax.random.randint(ks[1], (n,), 0, ACTIONS),
        jnp.full((n,), -1.386),
        jax.random.normal(ks[2], (n,)),
        jax.random.normal(ks[3], (n,)),
    )


def main():
    key = jax.random.PRNGKey(0)
    key, k1, k2 = jax.random.split(key, 3)
    params = init(k1)
    opt_state = optimizer.init(params)
    for i in range(10):
        k2, kb = jax.random.split(k2)
        params, opt_state, key, losses = update(params, opt_state, fake_batch(kb), key)
    print(losses)


if __name__ == "__main__":
    main()
