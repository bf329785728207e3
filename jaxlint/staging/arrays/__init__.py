"""What functions, attributes and methods of arrays give, as the tables of `jaxlint/jaxapi` say."""
