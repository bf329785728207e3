"""Example arguments for functions, so that they can be verified without running the program they belong to.

They come from an examples file (`files`), from jaxtyping annotations (`annotated`) or from the initialiser of a module
(`modules`); where only shapes are given, values are drawn (`drawn`). `calls` puts them through the capture.
"""
