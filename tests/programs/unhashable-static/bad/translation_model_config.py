# source: google/flax#587
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp
import flax.linen as nn
import optax


class Seq2SeqEncoder(nn.Module):
    vocab_size: int
    emb_dim: int
    num_layers: int
    mlp_dim: int
    share_embeddings: bool = True

    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(self.vocab_size, self.emb_dim)
        x = embed(tokens)
        for _ in range(self.num_layers):
            y = nn.LayerNorm()(x)
            y = nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
            x = x + y
            y = nn.gelu(nn.Dense(self.mlp_dim)(nn.LayerNorm()(x)))
            x = x + nn.Dense(self.emb_dim)(y)
        x = nn.LayerNorm()(x)
        return embed.attend(x) if self.share_embeddings else nn.Dense(self.vocab_size)(x)


CONFIG = {"vocab_size": 128, "emb_dim": 32, "num_layers": 2, "mlp_dim": 64}  # finding-also


@functools.partial(jax.jit, static_argnums=(1, 2))  # finding-also
def create_params(key, input_shape, model_kwargs):  # finding-also
    model = Seq2SeqEncoder(**model_kwargs)
    return model.init(key, jnp.zeros(input_shape, jnp.int32))["params"]


def make_train_step(model, tx):
    @jax.jit
    def train_step(params, opt_state, tokens):
        def loss_fn(p):
            logits = model.apply({"params": p}, tokens)
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return train_step


def main():
    key, k_tok = jax.random.split(jax.random.key(0))
    params = create_params(key, (4, 16), CONFIG)  # finding
    tx = optax.adam(1e-3)
    opt_state = tx.init(params)
    train_step = make_train_step(Seq2SeqEncoder(**CONFIG), tx)
    tokens = jax.random.randint(k_tok, (4, 16), 0, CONFIG["vocab_size"])
    for _ in range(5):
        params, opt_state, loss = train_step(params, opt_state, tokens)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
