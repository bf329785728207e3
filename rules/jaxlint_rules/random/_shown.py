"""Random numbers that a program only shows: samples for a picture beside the training."""

from __future__ import annotations

import ast
import re

from jaxlint.api import PICTURES, Frame, KeyEvent, Module
from jaxlint.api.syntax import all_parameters, nodes_of, walk
from jaxlint_rules._names import bound_by, external_name, last_name, names_in
from jaxlint_rules._purpose import PLOTTERS

# Modules that draw or store pictures, and functions that do.
_LIBRARIES = re.compile(r"^(matplotlib|seaborn|plotly|bokeh|PIL|imageio|mediapy|cv2|torchvision\.utils)\b")
_SHOWS = re.compile(
    r"^(imshow|imsave|savefig|(save|add|write|log|show)_(images?|figure|video|grid)|write_video)$"
)
_MEDIA = frozenset({"wandb.Image", "wandb.Video", "wandb.Histogram", "wandb.Object3D"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def is_only_shown(event: KeyEvent) -> bool:
    """Whether one of two uses of a key makes numbers that the program only shows in pictures. That they repeat those of the
    other use misleads nobody.
    """
    return event.how == "again" and any(
        _ends_in_pictures(use, event.frame) for use in (event.first, event.node)
    )


def _ends_in_pictures(use: ast.AST, frame: Frame) -> bool:
    """Whether what a use gives, and all that is computed from it, is read by calls that draw pictures alone."""
    module, owner = frame.module, frame.owner
    begin = _statement(use, module)
    given = bound_by(begin) if begin is not None else set[str]()
    if begin is None or not given:
        return False
    again = [above for above in module.ancestors(begin) if isinstance(above, (ast.For, ast.While))]
    made_by: set[ast.AST] = {begin}
    shown = False
    while True:
        before = len(given)
        for read in [node for node in nodes_of(owner, ast.Name) if node.id in given]:
            statement = _statement(read, module)
            if not isinstance(read.ctx, ast.Load) or statement in made_by:
                continue
            if statement is None or _is_nested(read, owner, module):
                return False
            if statement.lineno < begin.lineno:
                if any(part is statement for loop in again for part in walk(loop)):
                    return False  # the next iteration reads it
                continue
            if _is_shown_at(read, frame):
                shown = True
                continue
            made = bound_by(statement)
            if not made:
                return False  # returned, tested, printed, or stored
            made_by.add(statement)
            given |= made
        if len(given) == before:
            break
    renewed = names_in(use)  # the key
    stored = [node for node in nodes_of(owner, ast.Name) if isinstance(node.ctx, ast.Store)]
    kept = {parameter.arg for parameter in all_parameters(owner)} if isinstance(owner, _FUNCTIONS) else set()
    goes_on = any(
        node.id in given - renewed and _statement(node, module) not in made_by for node in stored
    )  # a state that has another beginning
    return shown and not goes_on and not (given - renewed) & kept


def _statement(node: ast.AST, module: Module) -> ast.stmt | None:
    if isinstance(node, ast.stmt):
        return node
    return next((above for above in module.ancestors(node) if isinstance(above, ast.stmt)), None)


def _is_nested(read: ast.AST, owner: ast.AST, module: Module) -> bool:
    """Whether a function inside of `owner` reads it."""
    for above in module.ancestors(read):
        if above is owner:
            return False
        if isinstance(above, (*_FUNCTIONS, ast.ClassDef)):
            return True
    return False


def _is_shown_at(read: ast.AST, frame: Frame) -> bool:
    for above in frame.module.ancestors(read):
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.Call) and _shows(above, frame):
            return True
    return False


def _shows(call: ast.Call, frame: Frame) -> bool:
    """Whether a call draws, or stores, a picture."""
    name = last_name(call.func)
    if _SHOWS.search(name.lower()) or PICTURES.search(name.lower()):
        return True
    if isinstance(call.func, ast.Attribute) and last_name(call.func.value) in PLOTTERS:
        return True
    library = external_name(call.func, frame.scope)
    return library in _MEDIA or _LIBRARIES.search(library) is not None
