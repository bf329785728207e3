"""`jaxlint targets`: the platforms that `verify` can run on or compile for here."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import click

from jaxlint.cli.common import Failure
from jaxlint.cli.progress import Progress

_SECONDS = 180  # jax searches for devices, and its plugins may take long to find none
_INSTALL = "python -m pip install 'jaxlint-suite[verify]'"


@click.command("targets")
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", help="How to show them (text)."
)
def command(output_format: str) -> None:
    """Show the devices that `verify` can run on or compile for on this machine, and what to install for the others."""
    if importlib.util.find_spec("jaxlint_runtime") is None:
        raise Failure(f"the runtime is not installed: {_INSTALL}")
    found = survey()
    if output_format == "json":
        click.echo(json.dumps(found, indent=2))
        return
    versions = f"jax {found['jax']}, jaxlib {found['jaxlib']}" if found["jax"] else "jax is not installed"
    click.echo(f"{versions}\n")
    rows = [*found["targets"], *found["kernels"]]
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        mark = "yes" if row["available"] else "no"
        click.echo(f"{row['name']:<{width}}  {row['kind']:<12}  {mark:<3}  {row['detail']}")
    click.echo(
        "\nA compile-only target needs no such device: XLA's compiler for it gives memory, FLOPs and bytes."
    )


def survey() -> dict[str, Any]:
    """The result of the runtime's search, in a separate process: this one never imports jax. Raises Failure."""
    try:
        with Progress() as progress:
            progress.doing("looking for devices and compilers")
            done = subprocess.run(
                [sys.executable, "-P", "-m", "jaxlint_runtime.targets"],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise Failure(
            f"jax did not answer within {_SECONDS} s; set JAX_PLATFORMS=cpu to look at the CPU alone"
        ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Failure(f"looking for devices failed: {last}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
