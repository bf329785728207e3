"""Example arguments for functions, so that they can be verified without running the program they belong to.

They come from an examples file (`examples_file`), from jaxtyping annotations (`jaxtyping_shapes`) or from the
initialiser of a module (`framework_modules`). If only shapes are given, values are drawn (`drawn_values`).
`example_calls` runs them under the capture.
"""
