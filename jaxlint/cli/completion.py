"""`jaxlint completion`: shell completion for commands, options and rule names."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

VARIABLE = "_JAXLINT_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the completion of SHELL, to be read when it starts.

    bash: eval "$(jaxlint completion bash)"; zsh: eval "$(jaxlint completion zsh)"; fish: jaxlint completion fish | source
    """
    root = click.get_current_context().find_root().command
    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(root, {}, "jaxlint", VARIABLE)
    click.echo(completion.source_template % completion.source_vars())


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
