"""The iterable of a loop or comprehension as rows of arrays for `lax.scan` and `vmap`."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from jaxlint.codemods.facts.local_effects import check_expression
from jaxlint.codemods.facts.traceable import is_array_like
from jaxlint.codemods.purity.narrow_types import counted_with, narrow_types
from jaxlint.codemods.purity.nonempty_loops import builtin, counted_down
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.registry import Draft
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.layout import Layout
from jaxlint.codemods.source.site import Refused
from jaxlint.codemods.stageable import may_be_rows, program_and_file
from jaxlint.jaxapi.array_members import ARRAY_METHODS

_SIMPLE = re.compile(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])?")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(slots=True)
class Rows:
    """`parameters`: the names of a row, one for each array of `arrays`; `patterns`: the names that unpack such a row.

    `body` is the code for each row; `counters` are parameters that were Python numbers. `rewrites`: expressions of
    the body and their replacements. `length`: the number of rows if the body reads none. `reverse`: the last row
    comes first.
    """

    layout: Layout
    body: Sequence[ast.AST]
    parameters: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    patterns: dict[str, str] = field(default_factory=dict)
    counters: set[str] = field(default_factory=set)
    rewrites: dict[str, str] = field(default_factory=dict)
    handled: set[ast.AST] = field(default_factory=set)  # rewritten code, which needs no further check
    trees: bool = False  # the rows are pytrees
    length: str = ""
    reverse: bool = False

    def cut(self, equal: bool) -> None:
        """Truncates all arrays to the shortest, like `zip`, unless they are `equal`: a JAX loop raises if they
        differ, on any path."""
        lengths = [_length_of(text) for text in self.arrays]
        if equal or None in lengths or self.length:
            return  # except for variables, only the run is evidence
        for number, own in enumerate(lengths):
            others = [f"len({one})" for one in dict.fromkeys(lengths) if one != own]
            if others:
                end = others[0] if len(others) == 1 else f"min({', '.join(others)})"
                self.arrays[number] += f"[: {end}]"

    def turn(self, first: int = 0) -> None:
        """Reverses the arrays from number `first` on. Raises Refused if they are in a structure."""
        if self.trees:
            raise Refused("the layers run in reverse")
        self.arrays[first:] = [
            f"{text}[::-1]" if _SIMPLE.fullmatch(text) else f"({text})[::-1]" for text in self.arrays[first:]
        ]

    def settle(self, reverse: bool) -> None:
        """Runs backwards over the arrays that need it, if `reverse` allows it; otherwise reverses them."""
        if self.reverse and self.length:
            self.reverse = False  # all rows are the same
        if self.reverse and not reverse:
            self.turn()
            self.reverse = False

    def scanned(self) -> tuple[str, list[str]]:
        """The third argument of `lax.scan`, and its options."""
        if self.length:
            return "None", [f"length={self.length}"]
        options = ["reverse=True"] if self.reverse else []
        return (self.arrays[0] if len(self.arrays) == 1 else f"({', '.join(self.arrays)})"), options

    def mapped(self) -> list[str]:
        """The arguments of what `vmap` returns."""
        if self.length:
            raise Refused("the call does not depend on the loop variable, so all rows would be equal")
        return self.arrays

    def rewritten(self, text: str) -> str:
        for old, new in self.rewrites.items():
            text = re.sub(rf"(?<![\w.]){re.escape(old)}", lambda _, new=new: new, text)  # type: ignore[misc]
        return text

    def function(self, value: ast.expr) -> str:
        """A function of one row that returns `value`: the called function itself, if the row is its only argument."""
        text = self.rewritten(self.layout.argument(value))
        if isinstance(value, ast.Call) and not value.keywords and not self.patterns:
            if [self.rewritten(self.layout.site.text(one)) for one in value.args] == self.parameters:
                inside = {part.id for part in ast.walk(value.func) if isinstance(part, ast.Name)}
                if not inside & set(self.parameters):
                    return self.layout.site.text(value.func)
        if self.patterns:
            raise Refused("the loop unpacks its rows, and a lambda cannot unpack")
        return f"lambda {', '.join(self.parameters)}: {text}"


def rows_of(
    draft: Draft, target: ast.expr, iterable: ast.expr, body: Sequence[ast.AST], *, layers: bool = False
) -> Rows:
    """The rows of `for target in iterable`. Raises Refused if they are not rows of arrays."""
    check_expression(draft.site, iterable, "what the loop runs over")
    rows = Rows(Layout(draft.site), body, trees=layers)
    _Reader(draft, rows, layers).read(target, iterable)
    if draft.strict and not layers:
        rows.cut(_is_strict(iterable))
    may_be_counted(draft, rows.counters, body)
    return rows


def may_be_counted(draft: Draft, counters: Set[str], body: Sequence[ast.AST]) -> None:
    """Raises Refused if the body computes with a counter and its arrays may have fewer bits than a counting array."""
    if not draft.strict or not counters:
        return
    program, file = program_and_file(draft)
    if name := counted_with(counters, [file.same(one) for one in body], file):  # type: ignore[type-var]
        for narrow in narrow_types(PossibleValues(program)):
            raise Refused(
                f"`{name}` is a Python number and keeps the dtype of narrow arrays ({narrow}); an array of numbers would widen it"
            )


def may_be_summed(draft: Draft) -> None:
    """Raises Refused if the summands may have fewer than 32 bits: `jnp.sum` returns wider integers than `+`."""
    if not draft.strict:
        return
    program, _ = program_and_file(draft)
    for narrow in narrow_types(PossibleValues(program)):
        raise Refused(f"the summed values may be narrow ({narrow}), and `jnp.sum` gives wider integers")


class _Reader:
    def __init__(self, draft: Draft, rows: Rows, layers: bool) -> None:
        self.draft, self.site, self.rows, self.layers = draft, draft.site, rows, layers
        self.whole = True  # it is the only iterable

    def read(self, target: ast.expr, iterable: ast.expr) -> None:
        call = iterable if isinstance(iterable, ast.Call) else None
        name = builtin(iterable, self.site.names)
        if (
            call is not None
            and name in ("tqdm", "list", "tuple")
            and len(call.args) == 1
            and not call.keywords
        ):
            self.read(target, call.args[0])
        elif call is not None and name == "range":
            down = counted_down(call)
            if down is not None and self.whole:
                self.rows.reverse = True
            self.count(target, call, [down] if down is not None and self.whole else call.args)
        elif call is not None and name == "enumerate" and len(call.args) == 1 and not call.keywords:
            index, rest = self.pair(target, 2)
            counted = call.args[0]
            if isinstance(counted, ast.Call) and builtin(counted, self.site.names) == "zip" and counted.args:
                counted = counted.args[0]
            if not isinstance(counted, (ast.Name, ast.Attribute, ast.Subscript)):
                raise Refused("the argument of `enumerate` is not a variable, and would be computed twice")
            self.whole = False
            self.add(index, f"{self.numpy('arange')}(len({self.site.text(counted)}))", counter=True)
            self.read(rest, call.args[0])
        elif (
            call is not None
            and name == "zip"
            and call.args
            and not any(isinstance(a, ast.Starred) for a in call.args)
        ):
            self.whole = False
            for part, one in zip(self.pair(target, len(call.args)), call.args, strict=True):
                self.read(part, one)
        elif call is not None and name == "reversed" and len(call.args) == 1:
            whole, before = self.whole, len(self.rows.arrays)
            self.read(target, call.args[0])
            if whole:
                self.rows.reverse = not self.rows.reverse
            elif not self.rows.length:
                self.rows.turn(before)
        else:
            self.row(target, iterable)

    def row(self, target: ast.expr, iterable: ast.expr) -> None:
        layout = self.rows.layout
        text = layout.argument(iterable)
        if self.site.names.qualified(getattr(iterable, "func", iterable)) in ("jax.numpy.split",):
            text = f"{self.numpy('stack')}({text})"  # equal parts
        elif self.layers:
            tree = reference(self.site, self.draft.imports, "jax.tree.map", iterable)
            text = f"{tree}(lambda *leaves: {self.numpy('stack')}(leaves), *{layout.operand(iterable)})"
        elif not is_array_like(self.site, iterable) or self.is_called(target):
            raise Refused(f"`{ast.unparse(iterable)[:40]}` is not an array")
        else:
            may_be_rows(self.draft, iterable)
        self.add(target, text)

    def is_called(self, target: ast.expr) -> bool:
        """Whether the body calls the items, or a method of them that arrays do not have, such as layers."""
        called = [part.func for one in self.rows.body for part in ast.walk(one) if isinstance(part, ast.Call)]
        return isinstance(target, ast.Name) and any(
            (isinstance(one, ast.Name) and one.id == target.id)
            or (
                isinstance(one, ast.Attribute)
                and isinstance(one.value, ast.Name)
                and one.value.id == target.id
                and one.attr not in ARRAY_METHODS
            )
            for one in called
        )

    def count(self, target: ast.expr, call: ast.Call, bounds: Sequence[ast.expr]) -> None:
        """`range(*bounds)`."""
        if call.keywords or not bounds or any(isinstance(a, ast.Starred) for a in bounds):
            raise Refused("`range` is called with unpacked arguments, with keywords, or with nothing")
        texts = [self.rows.layout.argument(bound) for bound in bounds]
        used = isinstance(target, ast.Name) and any(
            isinstance(part, ast.Name) and part.id == target.id and isinstance(part.ctx, ast.Load)
            for one in self.rows.body
            for part in ast.walk(one)
        )
        if not used and len(bounds) == 1 and not self.rows.arrays and isinstance(target, ast.Name):
            self.rows.length = texts[0]
            self.rows.parameters.append("_")
            return
        if len(bounds) == 1 and isinstance(target, ast.Name):
            arrays = self.indexed(target.id, bounds[0])
            for array in arrays:
                row = self.fresh("row" if len(arrays) == 1 else f"{array.rpartition('.')[2]}_{target.id}")
                self.rows.rewrites[f"{array}[{target.id}]"] = row
                self.rows.parameters.append(row)
                whole = array == (self.counted(bounds[0]) or ("", 0))[0] or not self.draft.strict
                self.rows.arrays.append(array if whole else f"{array}[: {texts[0]}]")  # possibly infinite
            if arrays:
                return
            self.slices(target.id, bounds[0])
            self.windows(target.id, bounds[0])
        if isinstance(target, ast.Name):
            self.floats(target.id)
        self.add(target, f"{self.numpy('arange')}({', '.join(texts)})", counter=True)

    def indexed(self, index: str, count: ast.expr) -> list[str]:
        """`xs`, `ys` if `count` is the length of one of them and the body reads `xs[index]`, `ys[index]`, and `index`
        nowhere else."""
        of, axis = self.counted(count) or ("", 0)
        if not of or axis:
            return []
        found: dict[str, ast.expr] = {}
        for one in self.rows.body:
            for part in ast.walk(one):
                if isinstance(part, ast.Name) and part.id == index:
                    around = self.site.names.parents.get(part)
                    if not isinstance(around, ast.Subscript) or around.slice is not part:
                        return []
                    text = self.site.text(around.value)
                    if not _DOTTED.fullmatch(text) or self.site.text(around) != f"{text}[{index}]":
                        return []
                    if not isinstance(around.ctx, ast.Load) or not is_array_like(self.site, around.value):
                        return []
                    found.setdefault(text, around.value)
        if of not in found or any(self.is_bound_inside(text) for text in found):
            return []
        return sorted(found, key=lambda text: (found[text].lineno, found[text].col_offset))

    def counted(self, count: ast.expr) -> tuple[str, int] | None:
        """`xs` and an axis if `count` is `len(xs)`, `xs.shape[axis]`, or a variable assigned one of these once."""
        if isinstance(count, ast.Name):
            scope = self.site.names.scope_at(count)
            bindings = self.site.names.bindings_of(count.id, scope)
            made = self.site.names.parents.get(bindings[0].node) if len(bindings) == 1 else None
            if isinstance(made, ast.Tuple) and made.elts and made.elts[0] is bindings[0].node:
                whole = self.site.names.parents.get(made)  # n, width = xs.shape
                shape = whole.value if isinstance(whole, ast.Assign) and len(whole.targets) == 1 else None
                found = shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None
                return self.own(found, bindings[0].node, 0)
            if isinstance(made, ast.Assign) and len(made.targets) == 1:
                return self.counted(made.value) if not isinstance(made.value, ast.Name) else None
            return None
        of: ast.expr | None = None
        axis = 0
        if isinstance(count, ast.Call) and builtin(count, self.site.names) == "len" and len(count.args) == 1:
            of = count.args[0]
        elif isinstance(count, ast.Subscript) and isinstance(count.slice, ast.Constant):
            shape = count.value
            of = shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None
            axis = count.slice.value if isinstance(count.slice.value, int) else 0
        return self.own(of, count, axis)

    def own(self, of: ast.expr | None, at: ast.AST, axis: int) -> tuple[str, int] | None:
        """The text of `of`, which is read at `at`, with `axis`, if it has the same meaning in the body."""
        text = self.site.text(of) if of is not None else ""
        if not _DOTTED.fullmatch(text):
            return None
        names = self.site.names
        bindings = names.bindings_of(text.partition(".")[0], names.scope_at(at))
        later = [one for one in bindings if getattr(one.node, "lineno", 0) > getattr(at, "lineno", 0)]
        before_loop = self.rows.body[0].lineno  # type: ignore[attr-defined]
        return (text, axis) if all(getattr(one.node, "lineno", 0) > before_loop for one in later) else None

    def is_bound_inside(self, text: str) -> bool:
        root = text.partition(".")[0]
        return any(
            isinstance(part, ast.Name) and part.id == root and not isinstance(part.ctx, ast.Load)
            for one in self.rows.body
            for part in ast.walk(one)
        )

    def slices(self, index: str, count: ast.expr) -> None:
        """`x[i * size : (i + 1) * size]` becomes part `i` of `x` in `count` parts, which fails if `x` is too short.

        Parts of another axis work as well, `x[:, i * size : (i + 1) * size]` or `x[..., i * size : (i + 1) * size]`,
        such as heads.
        """
        number = self.rows.layout.operand(count)
        for one in self.rows.body:
            for part in ast.walk(one):
                found = _chunk(part, index)
                if found is None or not isinstance(part, ast.Subscript):
                    continue
                if not isinstance(part.value, (ast.Name, ast.Attribute)):
                    raise Refused("the loop slices an expression, which would be computed twice")
                size, before, cut = found
                x, length = self.site.text(part.value), self.rows.layout.operand(size)
                parts, axis = f"{number}, {length}", len(before)
                if before == ["..."]:
                    text = (
                        f"{x}[..., : {number} * {length}].reshape(*{x}.shape[:-1], {parts})[..., {index}, :]"
                    )
                else:
                    outer = f"*{x}.shape[:{axis}], " if axis else ""
                    whole = "".join(f"{one}, " for one in before)
                    text = f"{x}[{whole}: {number} * {length}].reshape({outer}{parts}, *{x}.shape[{axis + 1}:])[{whole}{index}]"
                self.rows.rewrites[self.site.text(part)] = text
                self.rows.handled.add(cut)

    def windows(self, index: str, count: ast.expr) -> None:
        """`x[:, i : i + width]` becomes a dynamic slice, if `count` windows of `width` fit into that axis without
        truncation."""
        for one in self.rows.body:
            for part in ast.walk(one):
                found = _window(part, index)
                if found is None or not isinstance(part, ast.Subscript):
                    continue
                axis, width, taken = found
                x, size = self.site.text(part.value), self.rows.layout.argument(width)
                fits = [self.counted(whole) for whole in _lengths(count, width)]
                if (x, axis) not in fits or any(map(self.is_bound_inside, (x, size))):
                    continue
                if not is_array_like(self.site, part.value):
                    continue
                cut = reference(self.site, self.draft.imports, "jax.lax.dynamic_slice_in_dim", one)
                along = f", axis={axis}" if axis else ""
                self.rows.rewrites[self.site.text(part)] = f"{cut}({x}, {index}, {size}{along})"
                self.rows.handled.add(taken)

    def floats(self, index: str) -> None:
        """`float(i)` becomes `(i * 1.0)`, which is as weakly typed as the Python number."""
        for part in (part for one in self.rows.body for part in ast.walk(one)):
            if isinstance(part, ast.Call) and builtin(part, self.site.names) == "float":
                if len(part.args) == 1 and isinstance(part.args[0], ast.Name) and part.args[0].id == index:
                    self.rows.rewrites[self.site.text(part)] = f"({index} * 1.0)"
                    self.rows.handled.add(part)

    def add(self, target: ast.expr, text: str, *, counter: bool = False) -> None:
        rows = self.rows
        if isinstance(target, ast.Name):
            rows.parameters.append(target.id)
            if counter:
                rows.counters.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not self.layers and any(isinstance(part, ast.Starred) for part in target.elts):
                raise Refused("the loop unpacks rows of any length")
            name = self.fresh("row")
            rows.parameters.append(name)
            rows.patterns[name] = ", ".join(self.site.text(part) for part in target.elts)
        else:
            raise Refused(f"the loop binds `{ast.unparse(target)[:40]}`, which is not a variable")
        rows.arrays.append(text)

    def pair(self, target: ast.expr, count: int) -> list[ast.expr]:
        if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == count:
            if not any(isinstance(part, ast.Starred) for part in target.elts):
                return target.elts
        raise Refused("one loop variable takes the rows of several arrays")

    def numpy(self, name: str) -> str:
        at = self.rows.body[0]
        return reference(self.site, self.draft.imports, f"jax.numpy.{name}", at)

    def fresh(self, wanted: str) -> str:
        taken = self.rows.layout.identifiers(self.site.names.scope_at(self.rows.body[0])) | set(
            self.rows.parameters
        )
        number, name = 2, wanted
        while name in taken:
            name, number = f"{wanted}_{number}", number + 1
        return name


def _is_strict(iterable: ast.expr) -> bool:
    """Whether a `zip` itself raises for arguments of different lengths."""
    return any(
        keyword.arg == "strict" and getattr(keyword.value, "value", False) is True
        for call in ast.walk(iterable)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
    )


def _length_of(text: str) -> str | None:
    """The variable whose length an array visibly has."""
    counted = re.fullmatch(r"[\w.]+\.arange\(len\((.+)\)\)", text)
    name = counted[1] if counted else text
    return name if _DOTTED.fullmatch(name) else None


def _chunk(node: ast.AST, index: str) -> tuple[ast.expr, list[str], ast.Slice] | None:
    """`size`, the index before the slice, and the slice, if `node` is `x[index * size : (index + 1) * size]`,
    possibly on a later axis."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    before, cut = [ast.unparse(part) for part in parts[:-1]], parts[-1] if parts else None
    if not isinstance(cut, ast.Slice) or cut.step is not None:
        return None
    if before != ["..."] and any(part != ":" for part in before):
        return None
    size = _size_of_part(cut, index)
    return None if size is None else (size, before, cut)


def _size_of_part(cut: ast.Slice, index: str) -> ast.expr | None:
    """`size` of `index * size : (index + 1) * size`."""
    lower, upper = cut.lower, cut.upper
    if not (isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Mult)):
        return None
    if not (isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Mult)):
        return None
    for counter, size in ((lower.left, lower.right), (lower.right, lower.left)):
        if (
            isinstance(counter, ast.Name)
            and counter.id == index
            and isinstance(size, (ast.Name, ast.Constant, ast.Attribute))
        ):
            for more, same in ((upper.left, upper.right), (upper.right, upper.left)):
                if ast.dump(same) == ast.dump(size) and ast.unparse(more) in (f"{index} + 1", f"1 + {index}"):
                    return size
    return None


def _window(node: ast.AST, index: str) -> tuple[int, ast.expr, ast.Slice] | None:
    """The axis, the width and the slice if `node` is `x[i : i + width]` or `x[:, i : i + width]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    cut = [part for part in parts if ast.unparse(part) != ":"]
    if len(cut) != 1 or not isinstance(cut[0], ast.Slice) or cut[0].step is not None:
        return None
    lower, upper = cut[0].lower, cut[0].upper
    if not isinstance(lower, ast.Name) or lower.id != index:
        return None
    if not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
        return None
    for start, width in ((upper.left, upper.right), (upper.right, upper.left)):
        if isinstance(start, ast.Name) and start.id == index and isinstance(width, (ast.Name, ast.Constant)):
            return parts.index(cut[0]), width, cut[0]
    return None


def _lengths(count: ast.expr, width: ast.expr) -> list[ast.expr]:
    """The lengths for which `count` windows of a width are never truncated: `n` in `n - width + 1` and `n - width`,
    and in `n` for 1."""
    more = isinstance(count, ast.BinOp) and isinstance(count.op, ast.Add) and ast.unparse(count.right) == "1"
    less = count.left if more and isinstance(count, ast.BinOp) else count
    found = [count] if ast.unparse(width) == "1" else []
    if isinstance(less, ast.BinOp) and isinstance(less.op, ast.Sub):
        found += [less.left] if ast.dump(less.right) == ast.dump(width) else []
    return found
