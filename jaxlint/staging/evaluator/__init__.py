"""Evaluates Python on abstract values: statements, expressions, calls, classes."""
