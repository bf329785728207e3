"""`change-attribute`: an attribute or method that an object has lost becomes its replacement."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused
from jaxlint.finding import Span, Step


@codemod("change-attribute")
def change_attribute(draft: Draft, step: Step) -> None:
    """The span is `x.attribute`, or with `called` its call. Parameters: `attribute`, and one of these.

    `tail` replaces the text after the dot. `around` is the dotted name of a function that takes `x` and then the
    call's arguments. `text` is an expression in which `{x}` means the object. `argument` replaces the call's
    argument.
    """
    site, parameters = draft.site, {key: str(value) for key, value in step.parameters.items()}
    called = "called" in parameters
    whole = site.find_ast(step.span, ast.Call if called else ast.Attribute)
    node = whole.func if isinstance(whole, ast.Call) else whole
    if not isinstance(node, ast.Attribute) or node.attr != parameters["attribute"]:
        raise Refused(f"this is not .{parameters['attribute']}")
    if not _is_where_it_says(site.text(whole), whole):
        raise Refused("the expression stands in an f-string, where its position is uncertain")
    if "argument" in parameters:
        assert isinstance(whole, ast.Call)
        given = [*whole.args, *(keyword.value for keyword in whole.keywords)]
        draft.replace(site.span(given[0]), parameters["argument"])
        return
    place = site.span(whole)
    if "tail" in parameters:
        name = site.span(node)
        start = name.end_column - len(node.attr)
        draft.replace(Span(name.end_line, start, place.end_line, place.end_column), parameters["tail"])
        return
    receiver = site.text(node)[: -len(node.attr)].rstrip().removesuffix(".").rstrip()
    arguments = site.text(whole)[len(site.text(node)) :].strip()[1:-1] if called else ""
    if "#" in site.text(whole):
        raise Refused("the rewrite would lose a comment inside")
    if "around" in parameters:
        function = reference(site, draft.imports, parameters["around"], node)
        inner = _bare(receiver)
        draft.replace(
            place,
            f"{function}({inner}, {arguments.strip()})" if arguments.strip() else f"{function}({inner})",
        )
    elif arguments.strip():
        raise Refused("the replacement takes no arguments, but the call passes some")
    else:
        draft.replace(place, parameters["text"].replace("{x}", receiver))


def _bare(text: str) -> str:
    """An expression as an argument, without the parentheses that a method needed."""
    if not text.startswith("("):
        return text
    inner = text[1:-1].strip()
    try:
        same = ast.dump(ast.parse(text, mode="eval")) == ast.dump(ast.parse(f"({inner})", mode="eval"))
        alone = ast.dump(ast.parse(f"f({inner})", mode="eval")) == ast.dump(
            ast.parse(f"f({text})", mode="eval")
        )
    except SyntaxError:
        return text
    return inner if same and alone else text


def _is_where_it_says(text: str, node: ast.AST) -> bool:
    """Older Pythons give wrong positions inside f-strings."""
    try:
        return ast.dump(ast.parse(f"({text})", mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False
