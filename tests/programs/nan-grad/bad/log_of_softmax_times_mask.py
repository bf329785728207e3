# source: jax-ml/jax#1052
# blind: sixth

"""Behaviour cloning with masked actions."""
import haiku as hk
import jax
import jax.numpy as jnp


def policy(obs):
    return hk.nets.MLP([32, 6])(obs)


net = hk.without_apply_rng(hk.transform(policy))


def masked_policy(params, obs, legal):
    logits = net.apply(params, obs)
    probs = jax.nn.softmax(logits) * legal
    return probs / probs.sum(-1, keepdims=True)


def entropy_bonus(params, obs, legal):
    probs = masked_policy(params, obs, legal)
    terms = probs * jnp.log(probs)  # finding-also
    return -jnp.sum(jnp.where(legal > 0, terms, 0.0), axis=-1).mean()  # finding


grad_fn = jax.jit(jax.grad(entropy_bonus))


def main():
    obs = jnp.ones((2, 4))
    params = net.init(jax.random.key(0), obs)
    legal = jnp.array([[1.0, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1]])
    print(jax.tree.map(lambda g: g.sum(), grad_fn(params, obs, legal)))


if __name__ == "__main__":
    main()
