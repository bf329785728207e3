"""Comments are told from strings as the standard library's tokenizer tells them."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest

import jaxlint
from jaxlint.syntax import comments
from jaxlint.syntax.comments import comments_in

HARD = '''#first
x = "#" + '#' + r"\\" # after a raw string \t
y = """ # no
"" # no \\""" # no
""" '# yes' # "yes
z = \'\'\'#'' \'\'\'; w = "\\"#", '\\\\' # 3
v = f"{x}#{{" # {a}
u = f"{x['#']}" + f"{x!r:>{w}}" # a field with a string
t = b'#' \\
# of a line that goes on
s = "a\\
# no" # é
r = "é" # two
if x: # three
  # \'four\'\f
  pass
''#last'''


def by_tokens(text: str) -> list[tuple[str, int, int]]:
    return [
        (token.string.rstrip(), token.start[0], token.start[1] + 1)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_comments_are_those_of_the_tokenizer(newline: str) -> None:
    assert len(by_tokens(HARD)) == 12
    for lines in range(1, HARD.count("\n") + 2):
        text = "\n".join(HARD.split("\n")[:lines])
        try:
            compile(text, "", "exec")
        except SyntaxError:
            continue
        assert list(comments_in(text.replace("\n", newline))) == by_tokens(text)


def test_the_tokenizer_reads_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenized: list[str] = []
    monkeypatch.setattr(comments, "_by_tokens", lambda text: tuple(by_tokens(tokenized.append(text) or text)))
    paths = sorted((Path(jaxlint.__file__).parent / "syntax").rglob("*.py"))
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert list(comments_in(text)) == by_tokens(text), path
    assert len(tokenized) < len(paths) / 4


def test_a_string_in_a_field_of_a_string_is_left_to_the_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "_by_tokens", lambda text: (("seen", 1, 1),))
    for text in ('f"{d["a"]}" # c', "rF'{d['}'] + 'x'}' # c", 'f"{d}{d["a#"]}" # c', "f'''{\n1 # c\n}'''"):
        assert comments_in(text) == (("seen", 1, 1),)
