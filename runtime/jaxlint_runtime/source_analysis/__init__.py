"""What the static half of jaxlint says of the files of a program."""
