# source: jax-ml/jax#21990
# blind: sixth

"""Local helpers that are called like something JAX once had."""
import jax
import jax.numpy as jnp


class Ops:
    @staticmethod
    def index_update(x, i, value):
        return x.at[i].set(value)


ops = Ops()


def tree_multimap(f, *trees):
    return jax.tree.map(f, *trees)


@jax.jit
def polyak(target, online, tau):
    mixed = tree_multimap(lambda t, o: t + tau * (o - t), target, online)
    return {**mixed, "bias": ops.index_update(mixed["bias"], 0, 0.0)}


if __name__ == "__main__":
    p = {"w": jnp.ones(2), "bias": jnp.ones(2)}
    print(polyak(p, p, 0.01))
