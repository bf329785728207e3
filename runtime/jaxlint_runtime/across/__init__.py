"""Proves candidates of a program of several processes in all of these processes at once."""
