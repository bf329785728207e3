"""Rewrites that change what is compiled: a function, a call, a region; static and traced arguments."""
