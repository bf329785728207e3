"""What code that was not read says of a tracer may be whether it is one: its branches are for some calls alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import findings_in

IMPORTS = {
    "of a package that is not there": "from pkg.util import asks",
    "of a file that is not there": "from .util import asks",
    "of a private part of a library": "from optax._src.util import asks",
    "of a star": "from .util import *",
    "of an object": "from pkg.util import Checks\n\nasks = Checks().asks",
    "of a module": "import pkg.util\n\ndef asks(x):\n    return pkg.util.asks(x)",
}
BODIES = {
    "if": "if asks(i):\n    return int(i)\nreturn i",
    "if not": "if not asks(i):\n    return int(i)\nreturn i",
    "a return before": "if asks(i):\n    return i\nreturn int(i)",
    "and": "if asks(i) and n > 3:\n    return 'x' * i\nreturn i",
    "in one expression": "return asks(i) and int(i)",
    "a conditional expression": "return int(i) if asks(i) else i",
    "a comparison": "if asks(i) == 'host':\n    return int(i)\nreturn i",
    "a name": "host = asks(i)\nif host:\n    return int(i)\nreturn i",
    "a name of a conditional expression": "init = True if (asks(i) and n in range(3)) else False\nif init:\n    return '_' * (3 - i)\nreturn i",
    "a flag": "init = False\nif asks(i):\n    init = True\nif init:\n    return int(i)\nreturn i",
    "a helper": "def host(i):\n    if asks(i):\n        return True\n    return False\nif host(i):\n    return int(i)\nreturn i",
    "a helper that is handed it": "def taken(host):\n    return int(i) if host else i\nreturn taken(asks(i))",
    "while": "while asks(i):\n    i = int(i)\nreturn i",
    "a comprehension": "return [int(x) for x in (i, i) if asks(x)]",
    "match": "match n:\n    case _ if asks(i):\n        return int(i)\nreturn i",
    "more in a tuple": "if asks((n, i)):\n    return int(i)\nreturn i",
}
SURE = {
    "no tracer is handed over": "if asks(3):\n    return int(i)\nreturn i",
    "no test": "asks(i)\nreturn int(i)",
    "beside the branch": "if asks(i):\n    n = 3\nreturn int(i)",
    "past a branch that raises": "if not asks(i):\n    raise ValueError('no')\nreturn int(i)",
    "before the branch": "k = int(i)\nif asks(i):\n    return k\nreturn i",
    "after a loop": "while asks(n, i):\n    n = n + 1\nreturn int(i)",
    "after a comprehension": "n = [x for x in (i, i) if asks(x)]\nreturn int(i)",
}


def program(imports: str, body: str) -> str:
    return f"import jax\n{imports}\n\ndef run(i, n):\n{textwrap.indent(body, '    ')}\n\nfast = jax.jit(run, static_argnums=1)\n"


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("imports", IMPORTS)
def test_what_a_branch_of_an_answer_does_is_not_claimed(imports: str, body: str, tmp_path: Path) -> None:
    text = program(IMPORTS[imports], BODIES[body])
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": text})] == []


@pytest.mark.parametrize("body", SURE)
@pytest.mark.parametrize("imports", IMPORTS)
def test_what_no_answer_decides_is_claimed(imports: str, body: str, tmp_path: Path) -> None:
    text = program(IMPORTS[imports], SURE[body])
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": text})] == ["JAX102"]


def test_a_case_whose_guard_fails_is_not_run(tmp_path: Path) -> None:
    asks = "def asks(i):\n    return not isinstance(i, jax.core.Tracer)"
    text = program(asks, BODIES["match"])
    assert findings_in(tmp_path, {"program.py": text}) == []
