"""Small rewrites of one or two statements."""
