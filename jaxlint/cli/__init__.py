"""The command line: one module per command, loaded on demand."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence

import click

from jaxlint import __version__
from jaxlint.cli.common import INTERRUPTED, Failure

# Command -> its line in `jaxlint --help`, so that the help need not load the commands.
_COMMANDS = {
    "check": "Report what makes JAX programs slow, big or wrong.",
    "fix": "Apply the fixes.",
    "upgrade": "Move a project to newer releases of JAX and its neighbours.",
    "baseline": "Record today's findings, to see only new ones.",
    "verify": "Run a program, try improvements and prove them.",
    "inspect": "Show which functions JAX traces, and why.",
    "targets": "Show the devices and compilers that `verify` can use here.",
    "config": "Show the settings that apply to a file, and where each comes from.",
    "server": "Show findings and tracers in an editor.",
    "rules": "List the rules.",
    "explain": "Explain a rule: why it matters, examples, the fix.",
    "completion": "Print the completion script of a shell.",
}
_RUNTIME = frozenset({"jaxlint_runtime", "jax", "jaxlib", "flax", "optax", "numpy", "psutil"})
INSTALL_RUNTIME = "python -m pip install 'jaxlint-suite[verify]'"


# Options of other tools, or of another command, and what to say about them.
_ELSEWHERE = {
    ("check", "--fix"): "`jaxlint check` only reports; `jaxlint fix` rewrites",
    ("check", "--unsafe-fixes"): "`jaxlint check` only reports; `jaxlint fix --unsafe-fixes` rewrites",
    ("check", "--fix-only"): "`jaxlint check` only reports; `jaxlint fix --quiet` rewrites",
    ("check", "--add-noqa"): "`jaxlint check --add-ignores` writes comments that silence findings",
    ("check", "--format"): "the option is --output-format",
    ("check", "--exit-non-zero-on-fix"): "`jaxlint fix --diff` exits with 1 when something would change",
    ("fix", "--check"): "`jaxlint fix --diff` writes nothing and exits with 1 when something would change",
    ("fix", "--dry-run"): "`jaxlint fix --diff` writes nothing and shows what would change",
}


class _Commands(click.Group):
    """A group whose commands are `jaxlint.cli.<name>:command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in _COMMANDS if importlib.util.find_spec(f"jaxlint.cli.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"jaxlint.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"; did you mean `{close[0]}`?" if close else "; `jaxlint --help` lists them"
            raise Failure(f"there is no command {args[0]!r}{hint}") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name]) for name in self.list_commands(ctx)])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _refuse_files_as_options(args)
        with _crashes_said(), _one_line(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _crashes_said(), _one_line(ctx), _missing_runtime(ctx):
            return super().invoke(ctx)


def _refuse_files_as_options(arguments: Sequence[str]) -> None:
    """Raises Failure for an option that is also the name of a file, as `-o../x.py` and `--exit-zero` may be.

    A clone chooses the names that `*` in a shell, or a git hook, puts on the command line.
    """
    for argument in arguments:
        if argument == "--":
            return
        if argument.startswith("-") and argument != "-" and os.path.lexists(argument):
            raise Failure(f"{argument!r} is both an option and a file in this folder; put `--` before files")


@contextlib.contextmanager
def _crashes_said() -> Iterator[None]:
    """Turns an internal error into a failed run: Python's own exit code would mean a run with findings."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise  # click handles these
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # such as a full disk under a redirected output
        raise Failure(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}") from None
    except Exception as error:
        if isinstance(error, _mistakes()):
            raise Failure(str(error)) from None
        if os.environ.get("JAXLINT_TRACEBACK"):
            raise
        from jaxlint.crashes import described

        then = "please report it, with the output under JAXLINT_TRACEBACK=1"
        raise Failure(described(error, then)) from None


def _mistakes() -> tuple[type[Exception], ...]:
    """Errors about selectors and rule packs. `--version` and `--help` do not wait for these modules."""
    from jaxlint.config import ConfigError
    from jaxlint.registry import RulePackError

    return ConfigError, RulePackError


@contextlib.contextmanager
def _one_line(ctx: click.Context) -> Iterator[None]:
    """Reports a usage error in one line, like every other failure."""
    try:
        yield
    except click.UsageError as error:
        if error.message.startswith("Usage:"):
            raise  # no arguments: click shows the help
        name = error.ctx.command_path if error.ctx else "jaxlint"
        option = error.option_name if isinstance(error, click.NoSuchOption) else ""
        if (elsewhere := _ELSEWHERE.get((name.rpartition(" ")[2], option))) is not None:
            raise Failure(f"{name} has no option {option}: {elsewhere}") from None
        raise Failure(f"{error.format_message().rstrip('.')}; see `{name} --help`") from None


@contextlib.contextmanager
def _missing_runtime(ctx: click.Context) -> Iterator[None]:
    """Turns a missing runtime package into one line about what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _RUNTIME:
            raise
        raise Failure(
            f"`jaxlint {ctx.invoked_subcommand}` needs {package}; install it: {INSTALL_RUNTIME}"
        ) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="jaxlint", message="%(prog)s %(version)s")
def main() -> None:
    """Find what makes JAX programs slow, big or wrong, rewrite it, and prove the rewrite."""
    for stream in (sys.stdout, sys.stderr):
        # A file name that is not text, or a terminal that is not UTF-8, must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if "_JAXLINT_COMPLETE" in os.environ:  # a shell asks what to propose
    importlib.import_module("jaxlint.cli.completion")
