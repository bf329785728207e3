"""Compiles placements of one step, in this process or in others that answer questions.

Questions are lowered here, since only this process has the traced function. What goes out is the module and the options that JAX
would pass to the compiler, so the figures are the same wherever it runs.
"""

from __future__ import annotations

import base64
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jaxlint_runtime import compat, targets
from jaxlint_runtime.lowering.function_versions import DoesNotFit, StagingError
from jaxlint_runtime.protocol.json_records import from_plain, to_plain
from jaxlint_runtime.protocol.placements import PlacementAnswer, PlacementQuestion
from jaxlint_runtime.sharding import activation_constraints, placed_program
from jaxlint_runtime.sharding.input_classes import Classes
from jaxlint_runtime.sharding.mesh import MeshShape
from jaxlint_runtime.sharding.placed_program import Figures, Step
from jaxlint_runtime.sharding.placement_search import Placement
from jaxlint_runtime.targets import Target

_MOST_BYTES = 64 * 2**20  # of a program that is sent: larger ones have large constants inside
_AHEAD = 1  # questions beyond those that the jobs work on


@dataclass(frozen=True)
class Devices:
    """The devices that placements are compiled for, as a mesh."""

    target: Target
    mesh: Any

    @property
    def split(self) -> tuple[str, ...]:
        """The axes with more than one device."""
        return tuple(name for name, size in self.mesh.shape.items() if size > 1)

    @property
    def quick(self) -> bool:
        """Whether they are only simulated."""
        return not self.target.compile_only


class Compiler(Protocol):
    """Compiles placements for devices."""

    def figures(self, placement: Placement, devices: Devices) -> Figures:
        """The cost of a placement. Raises StagingError."""

    def expect(self, placements: Sequence[Placement], devices: Devices) -> None:
        """These are probably asked for next, in this order."""


@dataclass
class Here:
    """Compiles in this process, one placement after the other."""

    step: Step
    classes: Classes
    shape: MeshShape

    def figures(self, placement: Placement, devices: Devices) -> Figures:
        """Lowers, compiles and inspects it. Raises StagingError."""
        placed = placed_program.place(
            self.step, placement[0], devices.mesh, dict(placement[1]), devices.quick, self._inside(placement)
        )
        return placed_program.figures(placed, self.shape, devices.target.platform)

    def expect(self, placements: Sequence[Placement], devices: Devices) -> None:
        """Makes no difference."""

    def request(self, placement: Placement, devices: Devices) -> compat.CompileRequest | None:
        """What the compiler would receive; None if only this process can compile it. Raises StagingError."""
        lowered, _ = placed_program.lower(
            self.step, placement[0], devices.mesh, dict(placement[1]), self._inside(placement)
        )
        found = compat.compile_request(lowered, placed_program.compiler_options(devices.quick))
        return None if found is None or len(found.module) > _MOST_BYTES else found

    def _inside(self, placement: Placement) -> Any:
        return activation_constraints.by_equation(self.classes.activations, placement[2])


@dataclass(frozen=True)
class Jobs:
    """The way to processes that compile. `receive` waits for the next answer, unless `is_waiting` says that there is one."""

    count: int
    send: Callable[[PlacementQuestion], None]
    receive: Callable[[], PlacementAnswer]
    is_waiting: Callable[[], bool]
    environment: dict[str, str]


_Wanted = tuple[Placement, Devices]


class Elsewhere:
    """Compiles in jobs, as many side by side as there are. Each placement is asked for once."""

    def __init__(self, here: Here, jobs: Jobs) -> None:
        self._here = here
        self._jobs = jobs
        self._expected: deque[_Wanted] = deque()
        self._numbers: dict[tuple[Placement, str], int] = {}
        self._found: dict[int, Figures | StagingError] = {}
        self._out: dict[int, _Wanted] = {}

    def expect(self, placements: Sequence[Placement], devices: Devices) -> None:
        """Asks for these while there are free jobs."""
        self._expected = deque((placement, devices) for placement in placements)
        self._fill()

    def figures(self, placement: Placement, devices: Devices) -> Figures:
        """The figures from a job. Raises StagingError."""
        number = self._numbers.get(_key((placement, devices)))
        if number is None:
            number = self._ask((placement, devices))
        while number not in self._found:
            if not self._fill():
                self._take()
        self._fill()
        found = self._found[number]
        if isinstance(found, StagingError):
            raise found
        return found

    def _fill(self) -> bool:
        """Reads the answers that are there, and asks for expected placements. Returns whether there was any of this to do."""
        before = len(self._found), len(self._numbers)
        while True:
            while self._out and self._jobs.is_waiting():
                self._take()
            while self._expected and _key(self._expected[0]) in self._numbers:
                self._expected.popleft()
            if not self._expected or len(self._out) >= self._jobs.count + _AHEAD:
                return before != (len(self._found), len(self._numbers))
            self._ask(self._expected.popleft())

    def _ask(self, wanted: _Wanted) -> int:
        """Lowers a placement, and sends it."""
        number = len(self._numbers)
        self._numbers[_key(wanted)] = number
        try:
            request = self._here.request(*wanted)
        except StagingError as error:
            self._found[number] = error
            return number
        if request is None:
            self._compile(number, wanted)
            return number
        self._out[number] = wanted
        shape, devices = self._here.shape, wanted[1]
        self._jobs.send(
            PlacementQuestion(
                number,
                devices.target.name,
                tuple(zip(shape.names, shape.sizes, strict=True)),
                request.devices,
                _packed(request.module),
                _packed(request.options),
                self._jobs.environment,
            )
        )
        return number

    def _take(self) -> None:
        """Waits for one answer."""
        answer = self._jobs.receive()
        wanted = self._out.pop(answer.number)
        if answer.at_home:
            self._compile(answer.number, wanted)
        elif answer.figures is not None:
            self._found[answer.number] = from_plain(Figures, answer.figures)
        elif answer.memory is not None:
            self._found[answer.number] = DoesNotFit(*answer.memory)
        else:
            self._found[answer.number] = StagingError(answer.reason)

    def _compile(self, number: int, wanted: _Wanted) -> None:
        try:
            self._found[number] = self._here.figures(*wanted)
        except StagingError as error:
            self._found[number] = error


def answer(question: PlacementQuestion) -> PlacementAnswer:
    """Compiles what another process asks for."""
    target = targets.parse(question.target)
    request = compat.CompileRequest(_unpacked(question.module), _unpacked(question.options), question.devices)
    shape = MeshShape(*map(tuple, zip(*question.mesh, strict=True)))
    try:
        compiled, warned = placed_program.heard_compile(
            lambda: compat.compile_as_requested(request, target.devices())
        )
        found = placed_program.figures(placed_program.Placed(compiled, (), warned), shape, target.platform)
    except DoesNotFit as error:
        return PlacementAnswer(question.number, None, str(error), (error.needed, error.available))
    except (StagingError, targets.TargetUnavailable) as error:
        return PlacementAnswer(question.number, None, str(error))
    return PlacementAnswer(question.number, to_plain(found))


def _key(wanted: _Wanted) -> tuple[Placement, str]:
    return wanted[0], wanted[1].target.name


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode()


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
