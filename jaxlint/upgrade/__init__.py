"""Moves a project to newer releases of JAX and its ecosystem: sources, notebooks and requirements."""
