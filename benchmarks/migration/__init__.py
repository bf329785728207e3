"""Old releases of packages, brought to today's JAX by `jaxlint fix`, judged by their own tests."""
