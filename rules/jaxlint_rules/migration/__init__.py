"""Rules about moving between versions of JAX."""
