"""What an editor shows while a file that takes long is checked: the findings at the edit first."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner
from pygls.lsp.server import LanguageServer

from jaxlint.cli.server import command
from jaxlint.registry import all_rules
from jaxlint.server import diagnostics, examiner, language_server
from jaxlint.server.checking import Checker
from jaxlint.server.documents import TextDocument
from jaxlint.server.meanwhile import Known
from jaxlint.staging.warm import OutOfTime, WarmRun

EDITS = """
import json, sys
from pathlib import Path
from jaxlint.server.documents import TextDocument
from jaxlint.server.examiner import Apart
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.warm import OutOfTime, WarmRun

# The time of a first look is over before its fifth function: the clock of a busy machine decides nothing here.
create = Interpreter._create
def counted(self, *args):
    if self.warm.looking:
        self.created = getattr(self, "created", 0) + 1
        if self.created == 5:
            self.warm.cut_short = True
            raise OutOfTime
    create(self, *args)
def look(self, seconds):
    self.looking = True
Interpreter._create, WarmRun.look = counted, look

path = Path(sys.argv[1])
examiner = Apart()
told = []
for text in [Path(one).read_text() for one in sys.argv[1:]]:
    document, seen = TextDocument(path.as_uri(), path, text), []
    found = examiner.check(document, (), seen.append)
    told.append([
        (checked.partial, [(one.code, one.span.line) for one in checked.findings] + [one.line for one in checked.errors])
        for checked in [*seen, found]
    ])
print(json.dumps(told))
"""
HEAD = "import jax\nimport jax.numpy as jnp\n"
BUSY = """

@jax.jit
def busy_{number}(state, limit):
    if state > limit:
        return limit
    for _ in range(3):
{body}
    return state
"""
COUNT = 100  # so many that the first look is over long before they are all evaluated
EDITED = """

@jax.jit
def edited(value):
    return {value}
"""


def test_findings_at_the_edit_come_first(tmp_path: Path) -> None:
    body = "\n".join(f"        state = jnp.where(state > {n}, jnp.sin(state) * {n}, state)" for n in range(3))
    busy = "".join(BUSY.format(number=number, body=body) for number in range(COUNT))
    texts = [
        HEAD + busy + EDITED.format(value="value"),
        HEAD + busy + EDITED.format(value="float(value)"),
        "import os\n" + HEAD + busy + EDITED.format(value="float(value)"),
        "import os\n" + HEAD + busy + EDITED.format(value="float("),
    ]
    paths = [tmp_path / name for name in ("train.py", "edited", "imported", "broken")]
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    command = [sys.executable, "-P", "-c", EDITS, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    opened, *changes = json.loads(done.stdout)
    branches = opened[-1][1]
    assert [code for code, _ in branches] == ["JAX101"] * COUNT
    edit = ["JAX102", texts[1].count("\n")]
    (partial, look), *_, (_, whole) = changes[0]
    assert partial
    assert edit in look
    assert len(look) == 4
    assert whole == [*branches, edit]
    # another import: what comes first rests on the imports of before, and the rest starts over
    (partial, look), *_, (_, moved) = changes[1]
    assert partial
    assert len(look) == 4
    assert moved == [[code, line + 1] for code, line in whole]
    # a text that is not Python: its error comes before its comments are checked
    line = texts[3].count("\n")
    assert changes[2] == [[False, [line]]] * 3


def test_the_rules_are_loaded_before_an_editor_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first diagnostics after a change come 0.2 s later."""
    seen = []
    monkeypatch.setattr(
        examiner, "make_examiner", lambda: seen.append(diagnostics._page.cache_info().currsize)
    )
    monkeypatch.setattr(
        language_server, "make_server", lambda made: SimpleNamespace(start_io=lambda: seen.append(made))
    )
    diagnostics._page.cache_clear()
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 0, result.output
    assert seen == [len(all_rules()), None]


def test_the_time_of_a_first_look_ends() -> None:
    class Owner:
        def stop(self, go_on_with: object) -> None: ...

        def looks(self) -> float | None:
            return None

        def previews(self) -> bool:
            return False

    warm, before = WarmRun(Owner()), signal.getsignal(signal.SIGPROF)
    try:
        warm.look(0.01)
        with pytest.raises(OutOfTime):
            all(number >= 0 for number in itertools.count())
    finally:
        signal.signal(signal.SIGPROF, before)
    assert warm.cut_short


def test_a_finding_that_is_gone_does_not_come_back_with_the_second_early_answer(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    texts = [HEAD + EDITED.format(value=value) for value in ("float(value)", "value")]
    path.write_text(texts[0])
    before, after = (TextDocument(path.as_uri(), path, text) for text in texts)
    checker = Checker()
    known, alone = checker.check(before), checker.check(after)
    assert (len(known.findings), len(alone.findings)) == (1, 0)
    asks_itself = SimpleNamespace(
        client_capabilities=SimpleNamespace(text_document=SimpleNamespace(diagnostic=True))
    )
    session = language_server.Session(cast("LanguageServer", asks_itself), examiner.Here())
    state = language_server._State(after, before=Known(known, known))
    for _ in range(2):  # from the first look, which had time for all, and from the whole file
        session._seen_early(state, after, alone)
        assert state.early is not None
        assert state.early.findings == []
