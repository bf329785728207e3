"""Donated arguments: which buffers nobody can read after a call."""
