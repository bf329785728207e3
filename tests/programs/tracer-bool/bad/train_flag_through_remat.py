# blind: seventeenth

"""A small transformer whose blocks are rematerialised to save memory."""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Block(nn.Module):
    dim: int
    heads: int = 4

    @nn.compact
    def __call__(self, x, train):
        h = nn.LayerNorm()(x)
        h = nn.SelfAttention(num_heads=self.heads)(h)
        if train:  # finding
            h = nn.Dropout(0.1, deterministic=False)(h)
        x = x + h
        h = nn.LayerNorm()(x)
        h = nn.Dense(4 * self.dim)(h)
        h = nn.gelu(h)
        return x + nn.Dense(self.dim)(h)


class Encoder(nn.Module):
    vocab: int
    dim: int = 32
    layers: int = 3

    @nn.compact
    def __call__(self, tokens, train=False):
        x = nn.Embed(self.vocab, self.dim)(tokens)
        block = nn.remat(Block)  # finding-also
        for i in range(self.layers):
            x = block(self.dim, name=f"block_{i}")(x, train)  # finding-also
        return nn.Dense(self.vocab)(x)


def create_state(model, key, tokens):
    variables = model.init(key, tokens)
    return train_state.TrainState.create(
        apply_fn=model.apply, params=variables["params"], tx=optax.adamw(1e-3)
    )


@jax.jit
def train_step(state, tokens, key):
    def loss_fn(params):
        logits = state.apply_fn(
            {"params": params}, tokens[:, :-1], train=True, rngs={"dropout": key}
        )
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


if __name__ == "__main__":
    tokens = jax.random.randint(jax.random.key(1), (4, 17), 0, 50)
    state = create_state(Encoder(50), jax.random.key(0), tokens[:, :-1])
    state, loss = train_step(state, tokens, jax.random.key(2))
    print(loss)
