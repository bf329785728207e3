"""`jaxlint completion`: shell completion for commands, options and rule names."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
)

VARIABLE = "_JAXLINT_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


def _with_option(args: list[str], incomplete: str) -> tuple[list[str], str, str]:
    """Splits `--select=key-`, which zsh and fish pass as one word and expect as one word back."""
    option, equals, value = incomplete.partition("=")
    if equals and option.startswith("--") and "--" not in args:
        return [*args, option], value, f"{option}="
    return args, incomplete, ""


class _Bash(BashComplete):
    """bash passes `--select=key-` as three words."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        if len(args) > 1 and args[-1] == "=" and args[-2].startswith("--"):
            args.pop()
        return args, incomplete


class _Zsh(ZshComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        args, incomplete, before = _with_option(args, incomplete)
        return [_behind(before, item) for item in super().get_completions(args, incomplete)]


class _Fish(FishComplete):
    """click's script cuts texts at a comma: the second of two rules is lost, and most descriptions."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        args, incomplete, before = _with_option(args, incomplete)
        return [_behind(before, item) for item in super().get_completions(args, incomplete)]


def _behind(before: str, item: CompletionItem[Any]) -> CompletionItem[Any]:
    return CompletionItem(f"{before}{item.value}", type=item.type, help=item.help) if before else item


for kind in (_Bash, _Zsh, _Fish):
    add_completion_class(kind)


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion of SHELL, to be read when it starts.

    bash: eval "$(jaxlint completion bash)"; zsh: eval "$(jaxlint completion zsh)", after compinit; fish: jaxlint
    completion fish | source
    """
    root = click.get_current_context().find_root().command
    complete = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}[shell](root, {}, "jaxlint", VARIABLE)
    click.echo(complete.source_template % complete.source_vars())


def complete_rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules that match the last name in a comma-separated list."""
    from jaxlint.registry import all_rules
    from jaxlint.rule import CATEGORIES

    before, comma, last = incomplete.rpartition(",")
    names = [(rule.name, rule.summary()) for rule in all_rules()]
    names += [(rule.code, rule.name) for rule in all_rules()]
    names += [(category, "category") for category in CATEGORIES]
    return [
        CompletionItem(before + comma + name, help=meaning)
        for name, meaning in names
        if name.lower().startswith(last.lower())
    ]
