"""What a program runs by itself: code that is reached from a module body, or from the function that a script starts."""

from __future__ import annotations

import ast

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, nodes_of


def is_on_host(frame: Frame) -> bool:
    """Whether the analysis saw the program run this code on the host, from a module body or from the function
    that a script starts.
    """
    root = frame
    while root.caller is not None:
        if not root.is_called():
            return False  # seen at a transformation, or without a caller
        root = root.caller
    if root.function is None:
        return True
    node = root.function.node
    return (
        isinstance(node, ast.FunctionDef)
        and not root.stage.staged
        and node.name in started_by_script(root.module.tree)
    )


_RUNNERS = frozenset({"app.run", "absl.app.run", "fire.Fire", "tyro.cli", "typer.run"})


@cache
def started_by_script(tree: ast.Module) -> frozenset[str]:
    """Functions that a script starts below `if __name__ == "__main__":` through a library that parses its
    options: `app.run(main)`, and `main()` where `hydra.main` or a similar decorator decorates it.
    """
    decorated = {
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and any(map(_parses, one.decorator_list))
    }
    found: set[str] = set()
    for block in tree.body:
        if isinstance(block, ast.If) and "__name__" in ast.unparse(block.test):
            for call in nodes_of(block, ast.Call):
                name = dotted(call.func)
                found |= {name} & decorated
                if name in _RUNNERS and call.args and isinstance(call.args[0], ast.Name):
                    found.add(call.args[0].id)
    return frozenset(found)


def _parses(decorator: ast.expr) -> bool:
    """`@hydra.main(...)`, `@pyrallis.wrap()`, `@click.command()`."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return dotted(made) in ("hydra.main", "pyrallis.wrap", "click.command", "draccus.wrap", "chz.entrypoint")
