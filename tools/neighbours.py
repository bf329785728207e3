"""What the libraries around JAX lost, read off their published wheels: names, and parameters of functions and classes.

Used by `api_history.py neighbours`, which holds this against the reviewed rows in neighbour_history.jsonl.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from api_names import Release

_MAX_STEPS = 12  # a name may be handed on from module to module


@dataclass(frozen=True)
class Loss:
    """A name, or with `param` a parameter of it, that `version` is the first of the releases read to lack."""

    name: str
    version: str
    param: str = ""


def still_there(release: Release, name: str, param: str = "") -> bool:
    """Whether a release has the name, and with `param` whether its definition still takes that."""
    if not param:
        return _has(release, name) or name in release.files
    given = parameters(release, name)
    return given is not None and (param in given or "**" in given)


def losses(releases: Sequence[tuple[str, Release]]) -> Iterator[Loss]:
    """What each release lacks that the one before it had; of names in several modules the shortest spelling alone."""
    for (_, old), (version, new) in itertools.pairwise(releases):
        gone: dict[str, str] = {}
        for name, home in public_names(old).items():
            if not _has(new, name):
                gone[home] = min(gone.get(home, name), name, key=lambda text: (text.count("."), text))
            elif name.count(".") <= 2:
                before, after = parameters(old, name), parameters(new, name)
                if before is not None and after is not None and "**" not in after:
                    yield from (
                        Loss(name, version, one) for one in before if one not in after and one != "**"
                    )
        yield from (Loss(name, version) for name in gone.values())


def public_names(release: Release) -> dict[str, str]:
    """Dotted names that programs can write, and where what they mean is defined."""
    found = {}
    for module in release.modules():
        if module.count(".") > 1:
            continue  # deeper modules are how a library is built
        imported = imported_modules(release.tree(module))
        for name in release.names(module).names:
            if not name.startswith("_") and name not in imported:
                home = _home(release, f"{module}.{name}")
                if home is not None and home.startswith(f"{release.package}."):
                    found[f"{module}.{name}"] = home
    return found


def imported_modules(tree: ast.Module | None) -> set[str]:
    """What `import a.b as c` binds in a module: other libraries."""
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in (tree.body if tree else ())
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def _has(release: Release, name: str) -> bool:
    module, _, leaf = name.rpartition(".")
    if module not in release.files:
        return False
    found = release.names(module)
    return leaf in found.names and found.names[leaf] != "gone"


def _home(release: Release, name: str) -> str | None:
    """The module and name of the definition; None for what comes from elsewhere, and for modules."""
    for _ in range(_MAX_STEPS):
        module, _, leaf = name.rpartition(".")
        if name in release.files or module not in release.files:
            return None
        origin = release.names(module).origin.get(leaf)
        if origin is None or origin == name:
            return name
        name = origin
    return None


def parameters(release: Release, name: str) -> list[str] | None:
    """The parameters of a function, or of the making of a class; None where they cannot be read."""
    home = _home(release, name)
    module, _, leaf = (home or "").rpartition(".")
    tree = release.tree(module) if module in release.files else None
    if tree is None:
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == leaf:
            return _of_function(node)
        if isinstance(node, ast.ClassDef) and node.name == leaf:
            return _of_class(node)
    return None


def _of_function(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names + ["**"] * (arguments.kwarg is not None)


def _of_class(node: ast.ClassDef) -> list[str] | None:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return _of_function(part)[1:]
    if not any(ast.unparse(base).endswith("Module") for base in node.bases):
        return None  # what its parents take is not known
    return [
        part.target.id
        for part in node.body
        if isinstance(part, ast.AnnAssign)
        and isinstance(part.target, ast.Name)
        and not part.target.id.startswith("_")
    ]
