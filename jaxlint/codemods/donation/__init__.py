"""Donated arguments: which buffers no code can read after a call."""
