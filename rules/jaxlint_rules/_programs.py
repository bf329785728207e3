"""What runs on the host: code that a module body or the function that a script starts reaches, and code that does what
no trace would."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Frame
from jaxlint.api.syntax import cache, dotted, nodes_of, own_nodes, walk
from jaxlint_rules._names import last_name


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


def runs_on_host(frame: Frame) -> bool:
    """Whether code runs on the host: the program is seen to run it, or it does what no trace would, or a function that
    calls it does. So the functions of a library count that some other program calls, to train, to sample, to measure.
    """
    return is_on_host(frame) or any(keeps_to_host(one.owner) for one in _own_callers(frame))


def _own_callers(frame: Frame) -> Iterator[Frame]:
    """The frame and its callers on the host, up to the first that no call leads to."""
    current: Frame | None = frame
    while current is not None and not current.home.staged and not current.module.is_test:
        yield current
        current = current.caller if current.is_called() else None


@cache
def keeps_to_host(owner: ast.AST) -> bool:
    """Whether a function itself reads a clock, fetches a result, waits for one, shows progress, reads or writes files,
    prints in a loop, or yields in a `while`: under a trace this fails, or happens once and shows a tracer.

    What nested functions do does not count, since others may call them.
    """
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any(
        (isinstance(node, ast.Call) and _is_of_host(node))
        or (isinstance(node, (ast.For, ast.While)) and _speaks(node))
        for node in own_nodes(owner)
    )


def _is_of_host(call: ast.Call) -> bool:
    name = dotted(call.func)
    if name.partition(".")[0] in _HOST_LIBRARIES or name in _HOST_FUNCTIONS:
        return True
    if name in ("float", "int", "bool") and len(call.args) == 1:
        return _reduces(call.args[0])
    return isinstance(call.func, ast.Attribute) and call.func.attr in _HOST_METHODS


def _reduces(node: ast.expr) -> bool:
    """`x.sum()`, `jnp.max(x)`: one number of an array, which is no setting."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _REDUCTIONS and dotted(node.func.value) not in ("np", "numpy", "math")


def _speaks(loop: ast.For | ast.While) -> bool:
    """Whether a loop prints, or hands out what each turn of a `while` has found."""
    within = [node for statement in loop.body for node in walk(statement)]
    prints = any(isinstance(node, ast.Call) and last_name(node.func) == "print" for node in within)
    yields = isinstance(loop, ast.While) and any(isinstance(node, ast.Yield) for node in within)
    nested = any(isinstance(node, (ast.FunctionDef, ast.Lambda)) for node in within)
    return (prints or yields) and not nested


_HOST_LIBRARIES = frozenset({"tqdm", "trange", "wandb", "plt", "pickle", "shutil", "subprocess"})
_HOST_FUNCTIONS = frozenset(
    {
        "open",
        "input",
        "time.time",
        "time.perf_counter",
        "time.monotonic",
        "time.process_time",
        "time.sleep",
        "perf_counter",
        "jax.device_get",
        "jax.block_until_ready",
        "json.dump",
        "np.save",
        "np.savez",
    }
)
# Methods that fetch a number, wait for it or show it.
READING_METHODS = frozenset(
    {"item", "tolist", "block_until_ready", "set_postfix", "set_description", "add_scalar"}
)
_HOST_METHODS = READING_METHODS | {"savefig"}
_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "norm", "any", "all", "argmax", "argmin"})
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
