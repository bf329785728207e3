"""Static arguments of which only real numbers differ from compile to compile: as arrays, they would compile once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxlint_runtime.capture.signature import Signature

_LEAST = 2  # sets of numbers


@dataclass(frozen=True, slots=True)
class VaryingNumbers:
    """The parameter, and the fields of its objects that differed; no fields if it is a number itself."""

    name: str
    fields: tuple[str, ...]
    compiles: int


def varying_numbers(signatures: Sequence[Signature]) -> list[VaryingNumbers]:
    """The static arguments whose numbers differed between compiles, and nothing else of them did."""
    found = []
    for name in signatures[0].statics if signatures else ():
        values = [one.statics[name] for one in signatures if name in one.statics]
        if len({(one.type, tuple(one.numbers), one.others) for one in values}) > 1:
            continue
        rows = {tuple(one.numbers.items()) for one in values}
        fields = [field for field in values[0].numbers if len({one.numbers[field] for one in values}) > 1]
        if len(values) == len(signatures) and len(rows) >= _LEAST:
            found.append(VaryingNumbers(name, tuple(one for one in fields if one), len(rows)))
    return found
