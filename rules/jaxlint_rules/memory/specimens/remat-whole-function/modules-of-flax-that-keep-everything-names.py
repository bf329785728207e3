# modules of flax that keep everything, names that no value has

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

policies = jax.checkpoint_policies
Kept = nn.remat(nn.Dense, policy=policies.everything_saveable)  # finding
Sparing = nn.remat(nn.Dense, policy=policies.dots_saveable)
Merged = nn.remat(nn.Dense, prevent_cse=False)  # finding

def block(w, h):
    return jnp.tanh(checkpoint_name(h @ w, "hidden"))

unnamed = jax.checkpoint(block, policy=policies.save_only_these_names)  # finding
wrong = jax.checkpoint(block, policy=policies.save_only_these_names("hiden"))  # finding
right = jax.checkpoint(block, policy=policies.save_only_these_names("hidden", "out"))

def attention(w, h):
    h = h + checkpoint_name(jax.nn.softmax(h @ w) @ h, "attention_out")
    return checkpoint_name(jnp.tanh(h @ w), "mlp_out")

one_misspelt = jax.checkpoint(attention, policy=policies.save_only_these_names("attn_out", "mlp_out"))  # finding
of_other_models = jax.checkpoint(attention, policy=policies.save_only_these_names("mlp_out", "queries"))

@jax.remat  # finding
def loss(w, h):
    return wrong(w, right(w, h)).sum()

gradient = jax.value_and_grad(loss)
