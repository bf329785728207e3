"""The evidence behind a finding: the nearby code alone, or also other files and tests; and whether its cost matters."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from jaxlint.finding import Severity
from jaxlint.staging.events import Event
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from jaxlint.staging.values import Array, Transformed
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.stage import Why
from jaxlint.syntax.facts import FunctionNode, nodes_of
from jaxlint.syntax.memo import cache


def severity_of(event: Event) -> Severity:
    """The severity of an error that depends on how the code is called.

    If the transformation or the source of the tracer is partly in another file, errors were right far less often in
    unseen code (benchmarks/results/unseen.md): settings and classes may differ at run time. If a test leads to the
    code, that test would fail and show the error; most do not.
    """
    way = [event.frame, *event.frame.callers()]
    if any(_is_test(frame) for frame in way) or _is_left_to_tests(way[-1]):
        return Severity.INFO
    here = event.frame.module
    return Severity.ERROR if all(module is here for module in _modules(event)) else Severity.WARNING


# Functions that draw pictures, by their names.
PICTURES = re.compile(
    r"(^|_)(plots?|plotting|figures?|visuali[sz]e\w*|animate|animation|render|videos?|movies?|gifs?)(_|$)|^plot|^show_"
)
# Calls that draw them.
_DRAWN_BY = re.compile(
    r"matplotlib|pyplot|plotly|seaborn|bokeh|altair|pyvista|imageio|mediapy|pygame|\bPIL\b|\bcv2\b|renderer",
    re.IGNORECASE,
)
# Functions that prepare files once, before or after the work.
_PREPARES = re.compile(
    r"^_*(download|convert|export|restore|from_pretrained|load_(\w+_)?(weights|params|checkpoint|pretrained))"
)
# Files that draw pictures, and (below) files that nobody runs any more.
_ASIDE = re.compile(
    r"^_*(plots?|plotting|plotters?|figures?|viz|vis|visuali[sz]\w*)$|^(plot|visuali[sz]e|animate)_"
)
_RETIRED = re.compile(
    r"^_*(archived?|legacy([-_]\w+)?|depr\w+|obsolete|attic|unused|not_?used|trash)$|(^|[-_ ])(backups?|bak)\d*$"
)
_OLD = re.compile(r"^_*old(_\w+)?$")  # folders; a file of this name is compared with others


# Folders with programs that measure the project.
_TRIALS = re.compile(r"^_*(bench|benchmarks?|benchmarking)$")
_MEASURES = re.compile(
    r"(^|_)(bench(mark(s|ing)?)?|profiler|profiling|debug|repro|playground)(_|$)|^_*smoke(_|$)"
)  # and files, also those that only see whether it runs, or look for a mistake
# Functions that call the code beside them to see that it works.
_TRIES = re.compile(r"^_*(tests?|self_?test|smoke|sanity|demo)(_|$)")
_WARM_UP = re.compile(r"^range\(\w*warm_?up\w*\)$", re.IGNORECASE)
# Functions that measure others: what they draw does not matter, how they run it does.
_MEASURING = re.compile(r"^_*bench(mark(s|ing)?)?(_|$)")


def only_measures(frame: Frame) -> bool:
    """Whether code is part of a function that measures others, by its name, or of code that warms up what it measures."""
    function = frame.function
    named = function is not None and any(map(_MEASURING.search, function.qualname.lower().split(".")))
    return named or _warms_up(frame.owner)


@cache
def _warms_up(owner: ast.AST) -> bool:
    """`for _ in range(warmup_steps):`, before the loop that is measured."""
    return any(_WARM_UP.search(ast.unparse(loop.iter)) for loop in nodes_of(owner, ast.For))


def only_tries_out(node: ast.AST, frame: Frame) -> bool:
    """Whether code only tries out the project, so that neither its numbers nor its time matter. Such code is
    the script part of a module that others import (if no loop there trains or evaluates), a function with such
    a name, or a file of benchmarks, by its name or its folder's.
    """
    function = frame.function
    if any(_TRIALS.search(part) for part in _parts(frame.module, stem=False)) or _MEASURES.search(
        Path(frame.module.display).stem.lower()
    ):
        return True
    if function is not None:
        named = function.qualname.lower().split(".")
        return not isinstance(function.node, ast.Lambda) and any(map(_TRIES.search, named))
    guarded = any(
        isinstance(above, ast.If) and _asks_for_script(above.test) and not _works_in(above)
        for above in frame.module.ancestors(node)
    )
    return guarded and _is_library(frame.module)


def _asks_for_script(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
    )


def _works_in(node: ast.AST) -> bool:
    """Whether a loop there computes something from what the iteration before has left, as what trains or evaluates does: a state
    that is stepped, a sum of losses. One that only repeats a call, to time it, does not."""
    return any(
        _goes_on(part)
        for loop in ast.walk(node)
        if isinstance(loop, ast.For | ast.While)
        for statement in loop.body
        for part in ast.walk(statement)
    )


def _goes_on(statement: ast.AST) -> bool:
    """`state = step(state, batch)`, `total += loss(batch)`, `self.state = self.step(self.state)`."""
    if isinstance(statement, ast.AugAssign):
        return any(isinstance(part, ast.Call) for part in ast.walk(statement.value))
    if not isinstance(statement, ast.Assign):
        return False
    made = {ast.unparse(part) for target in statement.targets for part in _unpacked(target)}
    given = (
        one
        for call in ast.walk(statement.value)
        if isinstance(call, ast.Call)
        for one in (*call.args, *(keyword.value for keyword in call.keywords))
    )
    return any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part) in made
        for one in given
        for part in ast.walk(one)
    )


def _unpacked(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _is_library(module: Module) -> bool:
    """Whether a file exists to be imported: it is part of a package, and its definitions are for others."""
    defines = any(isinstance(one, (ast.ClassDef, ast.FunctionDef)) for one in module.tree.body)
    return defines and bool(module.package)


def sees_whole_program(frame: Frame, project: Project) -> bool:
    """Whether the files that lead to a place are programs by themselves, so that all that the program does around it is seen: none
    imports more than JAX and its tools, no other file imports one, and none is part of a package. A notebook shows something, cell
    by cell, and is no such program."""
    return all(
        project.is_program(one.module)
        and not imports_more(one.module.tree)
        and one.module.source.path.suffix != ".ipynb"
        for one in (frame, *frame.callers())
    )


# What a program imports that gives it no data, beside the standard library.
_TOOLS = frozenset(
    """jax jaxlib flax optax equinox haiku chex jaxtyping beartype einops numpy scipy matplotlib tqdm distrax diffrax
    absl typing_extensions numpyro orbax jaxopt""".split()  # noqa: SIM905
)


@cache
def imports_more(tree: ast.Module) -> bool:
    """Whether a file imports more than tools: other files of a project, a dataset, an environment. An example imports nothing
    else, and its sizes show nothing of the program that it stands for.
    """
    roots = {name.name.partition(".")[0] for node in nodes_of(tree, ast.Import) for name in node.names}
    taken = list(nodes_of(tree, ast.ImportFrom))
    roots |= {(node.module or "").partition(".")[0] for node in taken}
    return any(node.level for node in taken) or bool(roots - _TOOLS - sys.stdlib_module_names)


def is_archived(module: Module) -> bool:
    """Whether nobody runs a file any more, judged by its name or its folder's: an archive, a backup."""
    return any(map(_RETIRED.search, _parts(module))) or any(map(_OLD.search, _parts(module, stem=False)))


_LESSONS = re.compile(r"tutorial|(^|[-_ ])(101|lessons?|lectures?|walkthrough)([-_ ]|$)|sharp_?bits")


def is_lesson(module: Module) -> bool:
    """Whether a notebook shows what JAX does, also with mistakes, judged by its name or its folder's."""
    return module.source.path.suffix == ".ipynb" and any(map(_LESSONS.search, _parts(module)))


def only_after_failure(node: ast.AST, frame: Frame) -> bool:
    """Whether a place runs only once something has failed, in a handler of its function or of a caller."""
    places: list[tuple[Module, ast.AST | None]] = [(frame.module, node)]
    places += [
        (outer.module, inner.call_node) for inner, outer in itertools.pairwise((frame, *frame.callers()))
    ]
    return any(place is not None and _lies_in_handler(place, module) for module, place in places)


def _lies_in_handler(node: ast.AST, module: Module) -> bool:
    for above in module.ancestors(node):
        if isinstance(above, ast.ExceptHandler):
            return True
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return False
    return False


def is_beside_main_work(frame: Frame) -> bool:
    """Whether code is not part of a program's main work, so that its cost does not matter: it draws pictures,
    converts files, lies in an archive, or a test calls it. Code that a test traces counts as code that the
    program traces.
    """
    return any(
        (one.module.is_test and not frame.stage.staged)
        or is_archived(one.module)
        or any(map(_ASIDE.search, _parts(one.module)))
        or (one.function is not None and _is_aside(one.function.name.lower(), one.module))
        for one in (frame, *frame.callers())
    )


def _is_aside(name: str, module: Module) -> bool:
    if _PREPARES.search(name):
        return True
    return PICTURES.search(name) is not None and _DRAWN_BY.search(module.source.text) is not None


def _parts(module: Module, stem: bool = True) -> Iterator[str]:
    """The names of a file and its folders, as the user gave them; for an absolute path, only the nearest folder."""
    path = Path(module.display)
    yield from (part.lower() for part in (path.parts[:-1] if not path.is_absolute() else path.parts[-2:-1]))
    if stem:
        yield path.stem.lower()


def _is_test(frame: Frame) -> bool:
    """Whether pytest or unittest runs it, as opposed to a helper in a test file."""
    function = frame.function
    return (
        frame.module.is_test
        and function is not None
        and (function.name.startswith(("test", "setUp")) or function.kind == "fixture")
    )


def _is_left_to_tests(frame: Frame) -> bool:
    """Whether no call of it is visible and it lies beside tests. A table or a decorator of the tests may call
    it, perhaps to see it fail.
    """
    if frame.context != "entry" or not frame.module.is_test:
        return False
    return any(function.name.startswith("test") for function in nodes_of(frame.module.tree, ast.FunctionDef))


def _modules(event: Event) -> Iterator[Module]:
    """The files of the evidence: of the calls from the traced function to here, of its transformation, and of the
    facts about the values."""
    frame: Frame | None = event.frame
    stage = event.frame.stage
    yield event.frame.module
    while frame is not None and frame.stage is stage and stage.staged:
        yield frame.module
        frame = frame.caller
    yield from _places(stage.why)
    if not stage.staged:
        yield from _givers(event)
    transformed = getattr(event, "transformed", None)
    if isinstance(transformed, Transformed):
        yield from _places(transformed.why)
    value = getattr(event, "value", None)
    if isinstance(value, Array):
        yield from _places(value.why)


def _givers(event: Event) -> Iterator[Module]:
    """The files of the callers from which values at the place come, in code that nothing traces."""
    frame: Frame = event.frame
    node: ast.AST = event.node
    while (function := frame.function) is not None and _reads_parameters(node, function.node):
        if frame.caller is None or frame.call_node is None:
            return
        node, frame = frame.call_node, frame.caller
        yield frame.module


def _reads_parameters(node: ast.AST, function: FunctionNode) -> bool:
    """Whether a place reads parameters of its function, or what is computed from them."""
    arguments = function.args
    given = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    read, bound = _names(node), nodes_of(function, ast.Assign)
    while not read & given:
        wider = read.union(
            *(_names(one.value) for one in bound if any(_names(target) & read for target in one.targets))
        )
        if wider == read:
            return False
        read = wider
    return True


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _places(why: Why | None) -> Iterator[Module]:
    while why is not None:
        if why.module is not None:
            yield why.module
        why = why.cause
