"""Moves a project to newer releases of JAX and its neighbours: sources, notebooks and what its files require."""
