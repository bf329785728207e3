"""Implementations of the matched patterns: those of JAX, and the project's own.

Attention: queries are [B, N, T, D], keys and values [B, K, S, D], where K divides N; biases and masks have four axes,
of size 1 where they do not vary. The result is [B, N, T, width of the values] in the dtype of the values.
"""
