"""A process that has evaluated the imports of one document, and checks each text of the document in a fork of itself.

The fork first reports the findings of the file alone, then continues with the files that use it. It is ended when the
next text comes. If the file alone takes long, a fork of it that begins at the edited lines reports what it has found
when its time is over.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import pickle
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NoReturn

from jaxlint.config import ConfigError
from jaxlint.examine import Outcome, resolved
from jaxlint.server.checking import Checked, Task, examination_of
from jaxlint.server.positions import changed_block
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.warm import Differs, WarmRun
from jaxlint.syntax.parse import split_lines


@dataclass(frozen=True, slots=True)
class Early:
    """The findings of a document alone, without the files that use it, or the part of them that came in time."""

    number: int  # of the text, as numbered by the sender
    checked: Checked
    cost: float = 0.0  # seconds of processor time


@dataclass(frozen=True, slots=True)
class Final:
    """The findings of a document in its project."""

    number: int
    checked: Checked
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class StartOver:
    """The text does not begin like the one that the process was created for."""

    number: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """The settings are invalid, or something raised. `said`: the message."""

    number: int
    said: str
    settings: bool


# Processor seconds from a text until its first look is reported, and how many of them functions have at least. An
# editor should show something within 300 ms of a key.
_IN_TIME = 0.12
_AT_LEAST = 0.06


def fork(work: Callable[[], object]) -> int:
    """Runs `work` in a fork of this process, which exits with it. Returns the process id."""
    pid = _forked()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)  # at once: there is nothing to clean up
    return pid


def end(pid: int) -> None:
    """Ends a process that this one forked."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def serve(task: Task, connection: Connection) -> NoReturn:
    """Checks the text of `task`, and then each text that is sent, with its number; sends the findings.

    None instead of a text interrupts the last job.
    """
    os.setpgid(0, 0)  # so that the parent ends the forks together with this process
    gc.disable()
    warmed = _Warmed(task, connection)
    with_deep_stack(warmed.run)
    os._exit(0)


@dataclass(slots=True)
class _Copy:
    """The process that checks a text, and its messages: early result, final result, and then the files that it
    parsed."""

    pid: int
    look: Connection
    early: Connection
    final: Connection
    waiting: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.waiting = [self.look, self.early, self.final]

    def close(self) -> None:
        end(self.pid)
        for one in (self.look, self.early, self.final):
            one.close()


class _Warmed:
    """Either the process that waits for texts, or one of its forks."""

    def __init__(self, task: Task, connection: Connection) -> None:
        self.task = task
        self.number = 0
        self.connection = connection
        self.warm = WarmRun(self)
        self.sources = [task.source]
        self.copy: _Copy | None = None
        self.previous = task.source  # the text before
        self.say_look: Connection | None = None  # in a fork
        self.say_early: Connection | None = None  # in a fork
        self.say_final = connection
        self.look: int | None = None  # the process id of the first look; 0 in that process
        self.preview: int | None = None  # its process id; 0 in the preview itself
        self.starts_over = False  # the text begins otherwise: this is a first look alone
        self.spent = 0.0

    def run(self) -> None:
        said: object = None
        try:
            examination = examination_of(self.task, warm=self.warm)
            assert isinstance(examination.sources, list)
            self.sources = examination.sources
            self.answer(examination.run())
        except ConfigError as error:
            said = Wrong(self.number, str(error), settings=True)
        except BaseException as error:
            said = Wrong(self.number, "".join(traceback.format_exception(error)), settings=False)
        finally:
            with contextlib.suppress(OSError):
                if self.starts_over:
                    self.say_final.send(StartOver(self.number))
                    self.say_final.send([])
                elif said is not None and self.look != 0:
                    self.say_final.send(said)
            os._exit(0)

    # ---- the waiting process ----

    def stop(self, go_on_with: Callable[[SourceFile], None]) -> None:
        """Returns only in forks."""
        text: SourceFile | None = None
        while not self.is_copy_for(text, go_on_with):
            text = self.next_text()

    def is_copy_for(self, text: SourceFile | None, go_on_with: Callable[[SourceFile], None]) -> bool:
        """Forks for a text; None for the text that the process was created with. Returns whether this is the fork."""
        look, say_look = Pipe(duplex=False)
        early, say_early = Pipe(duplex=False)
        final, say_final = Pipe(duplex=False)
        before = time.process_time() if text is None else 0.0  # the evaluation of the imports
        pid = _forked()
        if pid:
            for one in (say_look, say_early, say_final):
                one.close()
            self.copy = _Copy(pid, look, early, final)
            self.previous = text or self.previous
            return False
        for one in (look, early, final, self.connection):
            one.close()
        self.say_look, self.say_early, self.say_final = say_look, say_early, say_final
        self.spent = before
        if text is not None:
            self.take(text, go_on_with)
        return True

    def next_text(self) -> SourceFile:
        """Passes on the fork's messages until another text comes. Meanwhile it parses files that forks will need."""
        parse: list[Path] = []
        while True:
            asked = [self.connection, *(self.copy.waiting if self.copy is not None else [])]
            for one in wait(asked, 0 if parse else None):
                assert isinstance(one, Connection)
                if one is self.connection:
                    text = self.received()
                    if self.copy is not None:
                        self.copy.close()
                        self.copy = None
                    if text is not None:
                        return text
                    break
                parse += self.handed_on(one)
            else:
                if parse:
                    self.warm.parse(parse.pop())

    def received(self) -> SourceFile | None:
        try:
            sent: tuple[int, SourceFile] | None = self.connection.recv()
        except (EOFError, OSError):
            if self.copy is not None:
                self.copy.close()
            os._exit(0)
        if sent is None:
            return None
        self.number, text = sent
        return text

    def handed_on(self, one: Connection) -> list[Path]:
        """Passes on a message of the fork, and closes the connection after the last one. Returns the files
        that the fork has parsed.
        """
        copy = self.copy
        if copy is None or one not in copy.waiting:
            return []
        try:
            said = one.recv_bytes()
            if one is not copy.look or copy.early in copy.waiting:  # it came before the whole of the file
                self.connection.send_bytes(said)
            if one is not copy.final:
                copy.waiting.remove(one)
                return []
            parsed: list[Path] = pickle.loads(one.recv_bytes())
        except (EOFError, OSError):
            copy.waiting.remove(one)
            if one is not copy.final:
                return []
            self.connection.send(Wrong(self.number, "the process that checked it was killed", settings=False))
            parsed = []
        copy.close()
        self.copy = None
        return parsed

    # ---- a fork ----

    def take(self, text: SourceFile, go_on_with: Callable[[SourceFile], None]) -> None:
        """Continues with another text; reports if that is impossible, and exits."""
        self.warm.edited = edited(self.previous.text, text.text)
        self.task = dataclasses.replace(self.task, source=text)
        try:
            go_on_with(text)
        except Differs:
            self.look = 0
            self.starts_over = True
            self.warm.look(_IN_TIME)
            self.warm.go_on_anyway(text)
        except SourceError as error:
            if self.say_look is not None:
                self.say_look.send(Early(self.number, Checked(text, errors=[error]), self.cost()))
            # Nothing uses it, so it has no findings; its comments are checked anyway.
            alone = examination_of(dataclasses.replace(self.task, context=()))
            self.answer(alone.run())
            os._exit(0)
        self.sources[0] = text

    def looks(self) -> float | None:
        """Forks a process that reports what it finds in time. Returns the processor seconds that are left in that
        process."""
        if self.say_look is None:
            return None
        before = self.cost()
        self.look = _forked()
        if self.look:
            return None
        self.spent = before
        return max(_IN_TIME - before, _AT_LEAST)

    def previews(self) -> bool:
        """Forks a process that ends the run before the files that use the document are evaluated. Returns whether
        this is it."""
        if self.say_early is None:
            return False
        before = self.cost()
        self.preview = _forked()
        if self.preview:
            return False
        self.spent = before
        return True

    def cost(self) -> float:
        """Processor time so far. A fork counts its own, and a preview also that of the fork before it."""
        return time.process_time() + self.spent

    def answer(self, outcome: Outcome) -> None:
        """Sends the findings: early ones for display at once, and later the same findings with their fixes."""
        if self.look == 0:
            self.warm.looking = False  # its time cannot be over any more
            if self.say_look is not None:
                checked = self.task.checked(outcome)
                checked.partial = self.warm.cut_short or self.starts_over
                self.say_look.send(Early(self.number, checked, self.cost()))
            return
        if self.say_early is not None and not self.preview:
            self.say_early.send(Early(self.number, self.task.checked(outcome), self.cost()))
        if self.preview == 0:
            return
        source = self.task.source
        outcome.findings = resolved(outcome, {source.display: source})
        self.say_final.send(Final(self.number, self.task.checked(outcome), self.cost()))
        if self.say_early is not None:
            self.say_final.send(self.warm.parsed())
        for one in (self.look, self.preview):
            if one is not None:
                with contextlib.suppress(OSError):
                    os.waitpid(one, 0)


def _forked() -> int:
    with warnings.catch_warnings():
        # Python warns about threads: the other thread waits for this one, and holds no lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def edited(before: str, after: str) -> tuple[int, int]:
    """The lines of a text that the text before has not, the last one excluded; where lines are gone, the next line."""
    first, _, last = changed_block(split_lines(before), split_lines(after))
    return first + 1, max(last, first + 1) + 1
