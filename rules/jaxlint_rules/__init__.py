"""The built-in rule pack."""
