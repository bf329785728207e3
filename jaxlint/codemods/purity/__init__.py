"""Checks before code is traced: its side effects, the outside state that it reads, and its results."""
