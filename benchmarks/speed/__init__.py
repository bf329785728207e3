"""How fast `jaxlint check` is, beside libcst's bare parse of the same files and other linters, in one run."""
