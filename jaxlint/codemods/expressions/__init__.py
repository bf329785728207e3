"""Small rewrites of one expression."""
