"""Candidates of a program of several processes, proven in all of them at once, in step."""
