"""Sizes of dimensions: integers, symbols such as `B`, and arithmetic on them, in a normal form.

A size that is no `int` is a polynomial of atoms with integer coefficients. An atom is a symbol, or a quotient or a
remainder that no rule could divide. Two sizes are equal if their normal forms are. A symbol stands for a nonempty
dimension: it is 1 or more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import total_ordering
from typing import Final

_serials = itertools.count(1)


@total_ordering
@dataclass(slots=True, eq=False)
class Symbol:
    """An unknown size, usually that of an array axis. `name`: the program's name for it."""

    name: str
    serial: int = field(default_factory=_serials.__next__)

    def __lt__(self, other: Atom) -> bool:
        return _order(self) < _order(other)

    def __str__(self) -> str:
        return self.name


@total_ordering
@dataclass(frozen=True, slots=True)
class Divided:
    """`left // right` or `left % right` that is not a polynomial."""

    operator: str
    left: Size
    right: Size
    weight: int  # the symbols in it, each as often as it stands there

    def __lt__(self, other: Atom) -> bool:
        return _order(self) < _order(other)

    def __str__(self) -> str:
        return f"({written(self.left)} {self.operator} {written(self.right, inside=True)})"


Atom = Symbol | Divided
Monomial = tuple[Atom, ...]  # sorted; an atom is repeated as often as its power


def _order(atom: Atom) -> tuple[int, int, str]:
    return (0, atom.serial, "") if isinstance(atom, Symbol) else (1, 0, str(atom))


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of products, sorted. At least one product contains an atom."""

    terms: tuple[tuple[Monomial, int], ...]

    def __str__(self) -> str:
        return written(self)


Size = int | Polynomial
# A larger polynomial becomes a symbol.
MAX_TERMS: Final = 12
MAX_WEIGHT: Final = 200  # atoms, those inside quotients included
_MAX_INT: Final = 1 << 128  # beyond each size and each address


def symbol(name: str) -> Polynomial:
    """A new size that may equal any other."""
    return of_atom(Symbol(name))


def of_atom(atom: Atom) -> Polynomial:
    return Polynomial((((atom,), 1),))


def _terms(size: Size) -> dict[Monomial, int]:
    if isinstance(size, int):
        return {(): size} if size else {}
    return dict(size.terms)


def _weight(sizes: Iterable[Size]) -> int:
    polynomials = [size for size in sizes if isinstance(size, Polynomial)]
    return sum(sum(map(_atom_weight, monomial)) for one in polynomials for monomial, _ in one.terms)


def _atom_weight(atom: Atom) -> int:
    return 1 if isinstance(atom, Symbol) else atom.weight


def _number(number: int) -> Size:
    return number if abs(number) < _MAX_INT else symbol("?")


def _made(terms: dict[Monomial, int]) -> Size:
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return _number(kept[()])
    weight = sum(sum(map(_atom_weight, monomial)) for monomial in kept)
    if len(kept) > MAX_TERMS or weight > MAX_WEIGHT or max(map(abs, kept.values())) >= _MAX_INT:
        return symbol("?")
    ordered = sorted(kept.items(), key=lambda term: (-len(term[0]), [_order(atom) for atom in term[0]]))
    return Polynomial(tuple(ordered))


def add(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return _number(left + right)
    terms = _terms(left)
    for monomial, factor in _terms(right).items():
        terms[monomial] = terms.get(monomial, 0) + factor
    return _made(terms)


def negative(size: Size) -> Size:
    return -size if isinstance(size, int) else _made({m: -factor for m, factor in size.terms})


def subtract(left: Size, right: Size) -> Size:
    return add(left, negative(right))


def multiply(left: Size, right: Size) -> Size:
    if isinstance(left, int) and isinstance(right, int):
        return _number(left * right)
    terms: dict[Monomial, int] = {}
    for one, factor in _terms(left).items():
        for two, other in _terms(right).items():
            monomial = tuple(sorted((*one, *two), key=_order))
            terms[monomial] = terms.get(monomial, 0) + factor * other
    return _made(terms)


def product(sizes: Iterable[Size]) -> Size:
    result: Size = 1
    for size in sizes:
        result = multiply(result, size)
    return result


def total(sizes: Iterable[Size]) -> Size:
    result: Size = 0
    for size in sizes:
        result = add(result, size)
    return result


def quotient(left: Size, right: Size) -> Size | None:
    """`left / right` if the forms of both show that it divides evenly; otherwise None."""
    if right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left // right if left % right == 0 else None
    if left == right:
        return 1
    over = _terms(right)
    if len(over) != 1:
        return _common_factor(left, right)
    ((below, divisor),) = over.items()
    result: dict[Monomial, int] = {}
    for monomial, factor in _terms(left).items():
        rest = list(monomial)
        for atom in below:
            if atom not in rest:
                return None
            rest.remove(atom)
        if factor % divisor:
            return None
        result[tuple(rest)] = factor // divisor
    return _made(result)


def _common_factor(left: Size, right: Size) -> Size | None:
    """The common factor: `3*A + 3*B` divided by `A + B`."""
    one, two = _terms(left), _terms(right)
    if one.keys() != two.keys():
        return None
    factors = {one[m] / two[m] for m in one}
    factor = factors.pop()
    return int(factor) if not factors and factor == int(factor) else None


def divide(left: Size, right: Size) -> Size | None:
    """`left // right`; None if it raises."""
    if right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    exact = quotient(left, right)
    return _divided("//", left, right) if exact is None else exact


def remainder(left: Size, right: Size) -> Size | None:
    """`left % right`; None if it raises."""
    if right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return _divided("%", left, right) if quotient(left, right) is None else 0


def _divided(operator: str, left: Size, right: Size) -> Size:
    weight = _weight((left, right))
    return symbol("?") if weight > MAX_WEIGHT else of_atom(Divided(operator, left, right, weight))


def least(size: Size) -> int | None:
    """A lower bound; None if there is none."""
    if isinstance(size, int):
        return size
    bound = 0
    for monomial, factor in size.terms:
        if monomial and (factor < 0 or not all(map(_is_no_less_than_zero, monomial))):
            return None
        bound += factor * all(isinstance(atom, Symbol) for atom in monomial)
    return bound


def _is_no_less_than_zero(atom: Atom) -> bool:
    if isinstance(atom, Symbol):
        return True
    bounds = least(atom.left), least(atom.right)
    return all(bound is not None and bound >= 0 for bound in bounds)


def differ(left: Size, right: Size) -> bool:
    """Whether two sizes certainly differ."""
    between = subtract(left, right)
    if isinstance(between, int):
        return between != 0
    for one in (between, negative(between)):
        bound = least(one)
        if bound is not None and bound > 0:
            return True
    # `2*B` is not 7: one is a multiple of a number and the other is not.
    common = math.gcd(*(factor for monomial, factor in between.terms if monomial))
    rest = sum(factor for monomial, factor in between.terms if not monomial)
    return rest % common != 0


def may_be(size: Size, number: int) -> bool:
    return not differ(size, number)


def symbols_of(size: Size) -> set[Symbol]:
    """Its symbols, including those inside quotients."""
    if isinstance(size, int):
        return set()
    found: set[Symbol] = set()
    for monomial, _ in size.terms:
        for atom in monomial:
            found |= {atom} if isinstance(atom, Symbol) else symbols_of(atom.left) | symbols_of(atom.right)
    return found


def written(size: Size, inside: bool = False) -> str:
    """The source text of a size: `4*D`, `T - 1`; "?" if a part has no name. `inside`: it stands in a product or
    quotient."""
    if isinstance(size, int):
        return str(size)
    if any(one.name == "?" for one in symbols_of(size)):
        return "?"
    if len(size.terms) == 1 and not inside:
        ((monomial, factor),) = size.terms
        if factor == 1 and len(monomial) == 1:
            return str(monomial[0]).removeprefix("(").removesuffix(")")
    text = ""
    for monomial, factor in size.terms:
        parts = [str(atom) for atom in monomial]
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        sign = " - " if factor < 0 else " + "
        text += (sign if text else sign.strip(" +")) + "*".join(parts)
    return f"({text})" if inside and len(size.terms) > 1 else text


__all__ = [
    "Divided",
    "Polynomial",
    "Size",
    "Symbol",
    "add",
    "differ",
    "divide",
    "least",
    "may_be",
    "multiply",
    "negative",
    "product",
    "quotient",
    "remainder",
    "subtract",
    "symbol",
    "symbols_of",
    "total",
    "written",
]
