"""The function behind `jaxlint verify --lockstep`: starts the processes of a program, reads their records,
and reports which process leaves the common order.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from jaxlint_runtime.lockstep import verdict as words
from jaxlint_runtime.lockstep.lists import Lists
from jaxlint_runtime.lockstep.order import Order, Rank
from jaxlint_runtime.lockstep.verdict import Kind, Source, Verdict
from jaxlint_runtime.protocol.jobs import Capture, Known
from jaxlint_runtime.protocol.json_records import Plain, encode
from jaxlint_runtime.protocol.launch_records import KNOWN, Alone, Joined, Launched, Over, Told
from jaxlint_runtime.protocol.worker_events import Event, read_event
from jaxlint_runtime.request import CannotRun, InStep, Request, validate
from jaxlint_runtime.run import Listener
from jaxlint_runtime.workers.process_group import Death
from jaxlint_runtime.workers.ranks import Ranks
from jaxlint_runtime.workers.scratch_copy import Scratch
from jaxlint_runtime.workers.shared_folder import shared_folder
from jaxlint_runtime.workers.starting import to_originals

_LOOK = 0.05  # seconds between two reads of the lists
_EACH = 0.002  # the same for each list: a folder on a network opens no more of them at once
_EXIT = 10.0  # seconds that exit handlers are given
_GRACE = 1.0  # seconds that others are given to fail alike, once one has failed
_UNSEEN = 3.0  # the same where deaths are seen by silence alone; processes give a sign of life twice a second
_BUSY = 5.0  # seconds without a launch after which the end of --for waits for --stall
_SILENT = 10.0  # seconds without a sign of life before a process may count as stopped


@dataclass(slots=True)
class LockstepRun:
    """One run of all processes. A report consists of `order` and `verdict`.

    With `proving` the processes prove candidates once the program has ended. `hear` receives the events of
    process 0; its result goes to all processes.
    """

    request: Request
    how: InStep
    listener: Listener = field(default_factory=Listener)
    proving: Capture | None = None
    hear: Callable[[Event], Known | None] = lambda event: None
    scratch: Scratch | None = None  # the copy of the project in which they run
    order: Order = field(default_factory=Order)
    verdict: Verdict = field(default_factory=lambda: Verdict(Kind.UNKNOWN, "nothing was run"))
    interrupted: bool = False
    follows: bool = False  # another command decides and reports
    seconds: float = 0.0
    _began: float = 0.0
    _first: float | None = None  # when the first program was launched
    ranks: list[Rank] = field(default_factory=list)  # all that wrote something

    def run(self) -> Verdict:
        """Runs the program to its end, to a limit, or until a process leaves the order. Raises CannotRun."""
        validate(self.request)
        self.how.validate(self.request)
        with shared_folder(self.how) as folder:
            self._began = started = time.monotonic()
            try:
                with Ranks(
                    self.request, self.how, folder, self.listener.output, self.proving, self.scratch
                ) as ranks:
                    if self.how.joins and (told := self._take_part(ranks, folder)) is not None:
                        self.follows, self.verdict = True, told
                        return told
                    self.verdict = self._follow(ranks, Lists(folder), Source(folder))
                    ranks.decide(encode({"kind": self.verdict.kind, "message": self.verdict.message}))
            except KeyboardInterrupt:
                self.interrupted = True
                self.verdict = Verdict(Kind.UNKNOWN, "interrupted before the processes diverged or finished")
            self.seconds = time.monotonic() - started
        return self.verdict

    def _take_part(self, ranks: Ranks, folder: Path) -> Verdict | None:
        """The verdict of the command of process 0, if this is another one; None if it is this one."""
        own, ended = Lists(folder, ranks.list_of_own.name), 0.0
        while True:
            now = time.monotonic()
            ranks.sign(now)
            death = ranks.deaths().get(0)
            for _, record in own.read(now):
                if isinstance(record, Joined) and record.process == 0:
                    ranks.decide()
                    return None
            if (said := ranks.told()) is not None:
                found = json.loads(said) or {"kind": Kind.UNKNOWN, "message": "process 0 was ended"}
                return Verdict(Kind(found["kind"]), found["message"])
            if death is not None and not ended:
                ended = now
                if not any(rank.over for rank in own.ranks):
                    with ranks.list_of_own.open("ab") as file:
                        file.write(encode(Over(death.status, f"the program {death}", raised=True)))
            joined = any(rank.process is not None for rank in own.ranks)
            if ended and not joined and now - ended > _SILENT:
                said = next((rank.over.message for rank in own.ranks if rank.over), f"the program {death}")
                return Verdict(Kind.UNKNOWN, f"this process did not join the others: {said}")
            if now - self._began > self.request.timeout + _SILENT:
                return Verdict(Kind.UNKNOWN, "process 0 sent nothing within --timeout")
            time.sleep(_LOOK)

    def _follow(self, ranks: Ranks, lists: Lists, source: Source) -> Verdict:
        while True:
            now = time.monotonic()
            ranks.sign(now)
            deaths = ranks.deaths()  # before the last read of the records, so that nothing is missed
            found = self._read(lists, source, now, ranks)
            self.ranks = lists.ranks
            self._bury(deaths, lists, ranks, now)
            found = found or self._over(now, source) or self._late(now, source)
            if found is not None:
                if found.kind is Kind.SAME and all(_is_out(rank) for rank in lists.ranks):
                    ranks.wait(_EXIT)
                return found
            self._progress(lists)
            time.sleep(max(_LOOK, _EACH * len(lists.ranks)))

    def _read(self, lists: Lists, source: Source, now: float, ranks: Ranks) -> Verdict | None:
        """Reads new records; the verdict about the first two processes that cannot meet."""
        for rank, record in lists.read(now):
            match record:
                case Joined(_, processes):
                    if processes < 2:
                        raise CannotRun(
                            f"{self.request.target}: runs as one process; start two or more with --processes or --launcher"
                        )
                    self.order.add(rank)
                case Alone():
                    raise CannotRun(
                        f"{self.request.target}: computes before it calls jax.distributed.initialize, "
                        "so each process is alone"
                    )
                case Launched():
                    self._first = self._first or now
                    if apart := self.order.advance(rank.process or 0):
                        return words.diverged(self.order, apart, source)
                case Told(event):
                    self._told(event, ranks)
        return None

    def _told(self, event: Plain, ranks: Ranks) -> None:
        """Passes on events of process 0 about candidates, and sends the answers to all processes."""
        scratch = self.scratch
        heard = read_event(event if scratch is None else to_originals(event, scratch))
        known = self.hear(heard)
        if known is not None:
            ranks.put(KNOWN, encode(known if scratch is None else known.moved(scratch.to_copy)))

    def _bury(self, deaths: dict[int, Death], lists: Lists, ranks: Ranks, now: float) -> None:
        """Records how processes died that could not report it themselves."""
        if self.how.launcher:
            if deaths and any(rank.over is None for rank in lists.ranks):
                for rank in sorted(lists.ranks, key=lambda rank: rank.heard):
                    rank.die("ended without a message", now)
            elif deaths and not lists.ranks:
                tail = ranks.groups[0].error_tail.decode(errors="replace").strip().splitlines()
                said = f": {tail[-1]}" if tail else ""
                raise CannotRun(f"--launcher: `{' '.join(self.how.launcher)}` started no process{said}")
            return
        for rank in lists.ranks:
            death = deaths.get(rank.process if rank.process is not None else -1)
            if death is not None:
                rank.die(str(death), now)
        known = {rank.process for rank in lists.ranks}
        for number, death in deaths.items():
            if number not in known:
                raise CannotRun(f"process {number} {death}")

    # ---- ends ----

    def _over(self, now: float, source: Source) -> Verdict | None:
        """The verdict once processes have ended."""
        order = self.order
        # programs that exit handlers launch after the end may have counterparts there as well
        awaited = {
            process
            for launch in order.waiting()
            if not order.ranks[launch.process].at_exit
            for process in launch.program.processes
        }
        if early := [one for one in order.missing() if one in awaited and _is_through(order.ranks.get(one))]:
            return words.ended(order, early[0], source)
        ranks = self.ranks
        grace = _GRACE if self.how.processes else _UNSEEN
        failed = [rank.failed for rank in ranks if rank.failed is not None]
        if failed and (all(_is_out(rank) for rank in ranks) or now - min(failed) > grace):
            for rank in ranks:
                if not self.how.processes and now - rank.heard > grace / 2:
                    rank.die("stopped answering", now)
            return self._failure(ranks)
        if ranks and all(_is_through(rank) for rank in ranks):
            if not order.ranks:
                raise CannotRun(
                    f"{self.request.target}: never calls jax.distributed.initialize, so each process is alone"
                )
            return words.same(order, "the program finished")
        return None

    def _failure(self, ranks: list[Rank]) -> Verdict:
        """The verdict about the process that failed first, or that all failed alike."""
        failed = [rank for rank in ranks if rank.failed is not None]
        endings = {(rank.over.message, len(rank.launches)) if rank.over else None for rank in ranks}
        if len(endings) == 1 and None not in endings:
            over = ranks[0].over
            assert over is not None
            where = f"in each of {len(ranks)} processes " if len(ranks) > 1 else ""
            return Verdict(Kind.UNKNOWN, f"{where}{over.message}")
        # processes that gave up waiting for one that never joined are not at fault
        late = [
            rank for rank in ranks if not rank.processes and not _is_out(rank) and _rests(rank, inside=False)
        ]
        if late and all(not rank.processes and _rests(rank, inside=True) for rank in failed):
            return words.outside(late[0])
        # a killed process comes before one that an exception ended, which may be a consequence
        first = min(failed, key=lambda rank: (rank.over is not None, rank.failed or 0.0))
        return words.died(self.order, first.process or 0, first)

    def _late(self, now: float, source: Source) -> Verdict | None:
        """The verdict once a limit is reached."""
        order = self.order
        moved = max((rank.moved for rank in order.ranks.values()), default=now)
        idle = now - moved
        if not self.how.processes and idle > _SILENT:
            for one in order.missing():
                rank = order.ranks.get(one)
                if rank is not None and now - rank.heard > _SILENT:
                    rank.die("stopped answering", now)
        if idle > self.how.stall and (crossed := order.crossed()):
            return words.diverged(order, crossed, source)
        if order.waiting() and idle > self.how.stall:
            missing = order.missing()
            if not missing:
                return words.circle(order)
            guilty = [one for one in missing if self._stands_still(order.ranks.get(one), now)]
            if guilty:
                return words.stalled(order, guilty, source, idle)
        elif idle > self.how.stall and order.started:
            silent = [
                one for one, rank in order.ranks.items() if not _is_out(rank) and self._is_silent(rank, now)
            ]
            if silent:
                return words.silent(order, silent, now - order.ranks[silent[0]].heard)
        limit = self.request.run_for
        if limit is not None and self._first is not None and now - self._first > limit:
            if not order.waiting() or idle < _BUSY:
                return words.same(order, f"stopped after {limit:g} s (see --for)")
        if self.how.launcher and not self.ranks:
            self._began = now  # it may wait for its turn
        if now - self._began > self.request.timeout:
            if missing := order.missing():
                return words.stalled(order, missing, source, idle)
            return Verdict(Kind.UNKNOWN, f"took longer than {self.request.timeout:g} s (--timeout)")
        return None

    def _stands_still(self, rank: Rank | None, now: float) -> bool:
        """Whether a process does nothing inside JAX, or gives no sign of life; None if it has no record."""
        return rank is None or not rank.computes or self._is_silent(rank, now)

    def _is_silent(self, rank: Rank, now: float) -> bool:
        return now - rank.heard > max(self.how.stall, _SILENT)

    def _progress(self, lists: Lists) -> None:
        names = {rank.last.program.name for rank in lists.ranks if rank.last is not None}
        at = f", at {', '.join(sorted(names)[:2])}" if names else ""
        self.listener.progress(f"{len(lists.ranks)} processes run, {self.order.started} programs in step{at}")


def _rests(rank: Rank, inside: bool) -> bool:
    """Whether it was last seen waiting, in JAX or outside."""
    return rank.stands is not None and rank.stands.inside is inside


def _is_out(rank: Rank) -> bool:
    return rank.over is not None or rank.death is not None


def _is_through(rank: Rank | None) -> bool:
    """Whether the program ended without an error in this process."""
    return rank is not None and rank.over is not None and not rank.over.raised and not rank.over.status
