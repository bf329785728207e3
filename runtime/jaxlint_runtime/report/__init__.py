"""The output of `jaxlint verify`: the JSON document, and the tables for people."""
