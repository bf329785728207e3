# source: jax-ml/jax#8521
# blind: second

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_vmap
def make_members(key):
    return eqx.nn.MLP(2, 1, 16, 2, key=key)


@eqx.filter_vmap(in_axes=(eqx.if_array(0), None))
def evaluate(member, x):
    return member(x)


class Ensemble(eqx.Module):
    members: eqx.nn.MLP
    head: list

    def __init__(self, count, *, key):
        member_key, head_key = jax.random.split(key)
        self.members = make_members(jax.random.split(member_key, count))
        self.head = [eqx.nn.Linear(1, 1, key=k) for k in jax.random.split(head_key, 2)]

    def __call__(self, x):
        out = evaluate(self.members, x)
        for layer in self.head:
            out = jax.vmap(layer)(out)
        return out[:, 0]


def spread(model, xs):
    preds = jax.vmap(model)(xs)
    return preds.mean(axis=1), preds.std(axis=1)


def main():
    model_key, pool_key = jax.random.split(jax.random.key(5))
    model = Ensemble(4, key=model_key)
    pool = jax.random.normal(pool_key, (100, 2))
    _, uncertainty = spread(model, pool)
    print(pool[jnp.argsort(-uncertainty)[:3]])


if __name__ == "__main__":
    main()
