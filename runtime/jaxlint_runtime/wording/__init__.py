"""Figures and paths as people read them."""
