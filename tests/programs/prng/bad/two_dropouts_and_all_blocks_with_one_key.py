# blind: seventeenth

"""A transformer block in equinox with two dropout layers."""
import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    attn: eqx.nn.MultiheadAttention
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    norm1: eqx.nn.LayerNorm
    norm2: eqx.nn.LayerNorm
    drop: eqx.nn.Dropout

    def __init__(self, dim, heads, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.attn = eqx.nn.MultiheadAttention(heads, dim, key=k1)
        self.up = eqx.nn.Linear(dim, 4 * dim, key=k2)
        self.down = eqx.nn.Linear(4 * dim, dim, key=k3)
        self.norm1 = eqx.nn.LayerNorm(dim)
        self.norm2 = eqx.nn.LayerNorm(dim)
        self.drop = eqx.nn.Dropout(0.1)

    def __call__(self, x, key):
        h = jax.vmap(self.norm1)(x)
        h = self.attn(h, h, h)
        x = x + self.drop(h, key=key)
        h = jax.vmap(self.norm2)(x)
        h = jax.vmap(lambda t: self.down(jax.nn.gelu(self.up(t))))(h)
        return x + self.drop(h, key=key)  # finding


class Stack(eqx.Module):
    blocks: list

    def __init__(self, depth, dim, key):
        self.blocks = [Block(dim, 4, k) for k in jax.random.split(key, depth)]

    def __call__(self, x, key):
        for block in self.blocks:
            x = block(x, key)  # finding
        return x


@eqx.filter_jit
def predict(model, xs, key):
    keys = jax.random.split(key, xs.shape[0])
    return jax.vmap(model)(xs, keys)


if __name__ == "__main__":
    model = Stack(2, 16, jax.random.key(0))
    xs = jnp.ones((4, 10, 16))
    print(predict(model, xs, jax.random.key(1)).shape)
