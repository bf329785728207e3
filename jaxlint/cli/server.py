"""`jaxlint server`: for editors."""

from __future__ import annotations

import importlib.util

import click

from jaxlint.cli.common import Failure

_INSTALL = "python -m pip install 'jaxlint-suite[server]'"


@click.command("server")
@click.option("--stdio", is_flag=True, help="Use standard input and output (the default).")
def command(stdio: bool) -> None:
    """Show findings, fixes and tracers in an editor, by the language server protocol.

    An editor starts it and talks to it on standard input and output.
    """
    if importlib.util.find_spec("pygls") is None:
        raise Failure(f"the language server needs pygls, which is not installed: {_INSTALL}")
    from jaxlint.server.diagnostics import load
    from jaxlint.server.examiner import make_examiner

    load()  # before the fork, which shares it, and before an editor waits for diagnostics
    examiner = make_examiner()  # before there are threads
    from jaxlint.server.language_server import make_server

    make_server(examiner).start_io()
