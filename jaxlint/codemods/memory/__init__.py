"""Rewrites that save memory: recomputation, lower precision, losses by parts, attention."""
