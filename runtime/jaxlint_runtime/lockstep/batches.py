"""Compares the data that processes put into arrays that span them: equal rows in several processes, and copies that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from jaxlint_runtime.lockstep.order import Order
from jaxlint_runtime.protocol.launch_records import HostData, Place, Shard

_Leaves = Mapping[str, tuple[Shard, ...]]  # by name


@dataclass(frozen=True, slots=True)
class Batches:
    """A problem with the arrays of one line. `copies`: processes that hold the same part of an array provided
    different values for it.

    Otherwise processes that hold different parts provided the same values for them, in every call.
    """

    place: Place
    processes: tuple[int, ...]
    calls: int
    of: int
    copies: bool
    leaf: str = ""  # of the tree, if copies differ
    part: str = ""


def compared(order: Order) -> list[Batches]:
    """The problems in all calls that several processes have made."""
    lines: dict[Place, dict[int, list[_Leaves]]] = defaultdict(lambda: defaultdict(list))
    for process, rank in order.ranks.items():
        for record in rank.host_data:
            stack = rank.stacks.get(record.stack)
            if stack:
                lines[stack[-1]][process].append(_leaves(record))
    found = []
    for place, by_process in lines.items():
        copies = _copies(place, by_process)
        found += [one for one in (copies, _same(place, by_process)) if one is not None]
    return found


def _leaves(record: HostData) -> _Leaves:
    return {leaf.name: leaf.shards for leaf in record.leaves}


def _copies(place: Place, lines: Mapping[int, list[_Leaves]]) -> Batches | None:
    """Copies of one part that differ."""
    calls = max(map(len, lines.values()))
    wrong: set[int] = set()
    processes: set[int] = set()
    example = ("", "")
    for number in range(calls):
        given: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for process, of_process in lines.items():
            for name, shards in of_process[number].items() if number < len(of_process) else ():
                for shard in shards:
                    given[name, shard.place][shard.digest].add(process)
        for key, by_digest in given.items():
            if len(by_digest) > 1:
                example = example if wrong else key
                wrong.add(number)
                processes |= set().union(*by_digest.values())
    if not wrong:
        return None
    return Batches(place, tuple(sorted(processes)), len(wrong), calls, True, *example)


def _same(place: Place, lines: Mapping[int, list[_Leaves]]) -> Batches | None:
    """Processes that provided equal values for other parts of all arrays, in every call."""
    processes: set[int] = set()
    calls = 0
    for one, other in combinations(sorted(lines), 2):
        pairs = list(zip(lines[one], lines[other], strict=False))
        judged = [same for pair in pairs if (same := _alike(*pair)) is not None]
        if judged and all(judged):
            processes |= {one, other}
            calls = max(calls, len(judged))
    return Batches(place, tuple(sorted(processes)), calls, calls, False) if processes else None


def _alike(one: _Leaves, other: _Leaves) -> bool | None:
    """Whether two processes provided equal values for different parts of arrays; None if this cannot be
    decided.

    Constants, such as padding and zeros, decide nothing.
    """
    compared = False
    for name in one.keys() & other.keys():
        mine, theirs = one[name], other[name]
        if {shard.place for shard in mine} & {shard.place for shard in theirs}:
            continue
        if all(shard.constant for shard in (*mine, *theirs)):
            continue
        if [shard.digest for shard in mine] != [shard.digest for shard in theirs]:
            return False
        compared = True
    return True if compared else None
