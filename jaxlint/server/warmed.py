"""A process that has evaluated what one document imports, and examines each text of the document in a copy of itself.

The copy says first what the file itself gives, and goes on with the files that use it. It is ended when the next text comes.
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
from jaxlint.source import SourceError, SourceFile
from jaxlint.staging.evaluator.deep_stack import with_deep_stack
from jaxlint.staging.warm import Differs, WarmRun


@dataclass(frozen=True, slots=True)
class Early:
    """What a document gives by itself, without the files that use it."""

    number: int  # of the text, as whoever sent it counts
    checked: Checked
    cost: float = 0.0  # seconds of processor time that it took


@dataclass(frozen=True, slots=True)
class Final:
    """What a document gives in its project."""

    number: int
    checked: Checked
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Anew:
    """The text does not begin as the one that the process was made for."""

    number: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """The settings make no sense, or something raised. `said`: what is wrong."""

    number: int
    said: str
    settings: bool


def fork(work: Callable[[], object]) -> int:
    """Does `work` in a copy of this process, which ends with it. Gives its number."""
    pid = _forked()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)  # at once: there is nothing to clean up
    return pid


def end(pid: int) -> None:
    """Ends a process that this one has made."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def serve(task: Task, connection: Connection) -> NoReturn:
    """Examines the text of `task`, and then each that is sent with its number; sends what it finds.

    None instead of a text says that the last one is no longer wanted.
    """
    os.setpgid(0, 0)  # so that whoever made this process ends its copies with it
    gc.disable()
    warmed = _Warmed(task, connection)
    with_deep_stack(warmed.run)
    os._exit(0)


@dataclass(slots=True)
class _Copy:
    """The process that examines a text, and what it says: early, in the end, and then which files it has parsed."""

    pid: int
    early: Connection
    final: Connection
    waiting: list[Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.waiting = [self.early, self.final]

    def close(self) -> None:
        end(self.pid)
        for one in (self.early, self.final):
            one.close()


class _Warmed:
    """Either the process that waits for texts, or one of its copies."""

    def __init__(self, task: Task, connection: Connection) -> None:
        self.task = task
        self.number = 0
        self.connection = connection
        self.warm = WarmRun(self.stop, self.previews)
        self.sources = [task.source]
        self.copy: _Copy | None = None
        self.say_early: Connection | None = None  # in a copy
        self.say_final = connection
        self.preview: int | None = None  # the process of it; 0 in the preview itself
        self.spent = 0.0

    def run(self) -> None:
        try:
            examination = examination_of(self.task, warm=self.warm)
            assert isinstance(examination.sources, list)
            self.sources = examination.sources
            self.answer(examination.run())
        except ConfigError as error:
            self.say_final.send(Wrong(self.number, str(error), settings=True))
        except BaseException as error:
            self.say_final.send(
                Wrong(self.number, "".join(traceback.format_exception(error)), settings=False)
            )
        finally:
            os._exit(0)

    # ---- the process that waits ----

    def stop(self, go_on_with: Callable[[SourceFile], None]) -> None:
        """Returns in copies alone."""
        text: SourceFile | None = None
        while not self.is_copy_for(text, go_on_with):
            text = self.next_text()

    def is_copy_for(self, text: SourceFile | None, go_on_with: Callable[[SourceFile], None]) -> bool:
        """Makes a copy for a text; None for the one that it was made with. Whether this is the copy."""
        early, say_early = Pipe(duplex=False)
        final, say_final = Pipe(duplex=False)
        before = time.process_time() if text is None else 0.0  # what evaluated the imports
        pid = _forked()
        if pid:
            say_early.close()
            say_final.close()
            self.copy = _Copy(pid, early, final)
            return False
        for one in (early, final, self.connection):
            one.close()
        self.say_early, self.say_final = say_early, say_final
        self.spent = before
        if text is not None:
            self.take(text, go_on_with)
        return True

    def next_text(self) -> SourceFile:
        """Hands on what the copy says until another text comes; parses meanwhile what copies have to parse."""
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
        """Hands on a message of the copy, and closes it after the last. Gives the files that the copy has parsed."""
        copy = self.copy
        if copy is None or one not in copy.waiting:
            return []
        try:
            said = one.recv_bytes()
            self.connection.send_bytes(said)
            if one is copy.early:
                return []
            parsed: list[Path] = pickle.loads(one.recv_bytes())
        except (EOFError, OSError):
            copy.waiting.remove(one)
            if one is copy.early:
                return []
            self.connection.send(
                Wrong(self.number, "the process that examined it was killed", settings=False)
            )
            parsed = []
        copy.close()
        self.copy = None
        return parsed

    # ---- a copy ----

    def take(self, text: SourceFile, go_on_with: Callable[[SourceFile], None]) -> None:
        """Goes on with another text; says so where that is not possible, and ends."""
        self.task = dataclasses.replace(self.task, source=text)
        try:
            go_on_with(text)
        except Differs:
            self.say_final.send(Anew(self.number))
            self.say_final.send([])
            os._exit(0)
        except SourceError:
            # Nothing is found in it, whatever uses it; its comments are looked at all the same.
            alone = examination_of(dataclasses.replace(self.task, context=()))
            self.answer(alone.run())
            os._exit(0)
        self.sources[0] = text

    def previews(self) -> bool:
        """Makes a copy that ends the run before the files that use the document are evaluated. Whether this is it."""
        if self.say_early is None:
            return False
        before = self.cost()
        self.preview = _forked()
        if self.preview:
            return False
        self.spent = before
        return True

    def cost(self) -> float:
        """Processor time so far; a copy counts its own, and a preview that of the copy before it, too."""
        return time.process_time() + self.spent

    def answer(self, outcome: Outcome) -> None:
        """Says what was found: to whoever sees it at once, and then with its fixes."""
        if self.say_early is not None and not self.preview:
            self.say_early.send(Early(self.number, self.task.checked(outcome), self.cost()))
        if self.preview == 0:
            return
        source = self.task.source
        outcome.findings = resolved(outcome, {source.display: source})
        self.say_final.send(Final(self.number, self.task.checked(outcome), self.cost()))
        if self.say_early is not None:
            self.say_final.send(self.warm.parsed())
        if self.preview is not None:
            with contextlib.suppress(OSError):
                os.waitpid(self.preview, 0)


def _forked() -> int:
    with warnings.catch_warnings():
        # Python warns of threads: the other one waits for this one, and holds nothing.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()
