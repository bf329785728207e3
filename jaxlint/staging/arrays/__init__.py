"""The results of functions, attributes and methods of arrays, from the tables of `jaxlint/jaxapi`."""
