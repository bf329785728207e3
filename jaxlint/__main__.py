"""`python -m jaxlint`."""

from jaxlint.cli import main

main(prog_name="jaxlint")
