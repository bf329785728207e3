"""Facts from the static half of jaxlint about a program's files."""
