"""The text and the trees of a file: places, statements, scopes, imports, layout. It knows no JAX and changes nothing."""
