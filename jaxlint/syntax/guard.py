"""Finds source that is nested too deeply to parse or walk, by one linear scan of its text.

A parser that recurses for each term of a long sum fails in its own way: the standard library's with an exception,
libcst by crashing the interpreter, a walk over the tree by Python's recursion limit. The scan prevents all of them.
"""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BRACKETS = 200  # the limit of Python's own tokenizer
MAX_CHAIN = 1000  # operators, attributes and calls that nest in one expression
MAX_ELIFS = 1000  # each `elif` nests in the one before

# Tokens that nest: operators, trailers, `not`, conditional expressions and lambdas.
_NESTING = ("+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<<", ">>", ".", "(", "[", "{")
_NESTING_WORDS = ("if", "not", "lambda", "await")
# A line that begins like this is not inside an expression, or it names an argument and begins a new one.
_STATEMENT = re.compile(
    r"^[ \t\f]*(?:(?:def|class|return|import|raise|assert|while|with|try|except|finally|pass|break|continue|del"
    r"|global|nonlocal)\b|[A-Za-z_][\w.]*[ \t]*=(?!=))",
    re.MULTILINE,
)
_TOKEN = re.compile(
    r"""
      (?P<skip> \#[^\r\n]* | \\(?:\r\n|\r|\n) )
    | (?P<string> [A-Za-z]{0,3} (?:
          \"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z) | '''(?:[^\\]|\\.)*?(?:'''|\Z)
        | "(?:[^"\\\r\n]|\\(?:\r\n|.))*(?:"|(?=[\r\n])|\Z) | '(?:[^'\\\r\n]|\\(?:\r\n|.))*(?:'|(?=[\r\n])|\Z) ) )
    | (?P<newline> (?:\r\n|\r|\n) (?P<indent>[ \t\f]*) )
    | (?P<number> \d[\w.]* | \.\d\w* )
    | (?P<word> [^\W\d]\w* )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<separator> [,;:]=? | -> | [-+*/%@&|^!<>=]= | (?:\*\*|//|<<|>>)= | [=<>](?![<>]) )
    | (?P<operator> \*\* | // | << | >> | [-+*/%@&|^~] | \. )
    """,
    re.VERBOSE | re.DOTALL,
)
# The binding strength of an operator: a looser one ends the chains of tighter ones before it.
_CONDITIONAL, _BOOLEAN, _UNARY, _TRAILER = 0, 1, 8, 9
_BINDING = {"|": 2, "^": 3, "&": 4, "<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, "@": 7}
_BINDING |= {"**": _UNARY, "~": _UNARY, ".": _TRAILER}
_LEVELS = _TRAILER + 1
_NOT_OPERANDS = frozenset(keyword.kwlist) - {"None", "True", "False"}
_FORMATTED = re.compile(r"(?:[fFtT][rR]?|[rR][fFtT])(\"\"\"|'''|\"|')")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class NestingProblem:
    """Source that is nested too deeply: the line (1-based), and what to do."""

    line: int
    message: str


# libcst needs about 4 kB per token, and as much again for positions. The largest file of JAX itself has 95,000
# tokens.
MOST_TOKENS = 150_000
_WORD = re.compile(r"\w+|[^\w\s]")


@functools.lru_cache(maxsize=8)  # each fix of a file asks
def too_long_for_libcst(text: str) -> bool:
    """Whether the concrete syntax tree would take more than a gigabyte."""
    if len(text) <= MOST_TOKENS:
        return False
    return sum(1 for _ in _WORD.finditer(text)) > MOST_TOKENS


def worth_scanning(text: str) -> bool:
    """Whether `text` could nest too deeply for the standard library's parser or a walk over its tree.

    Much cheaper than `nesting_problem`, and sufficient before a parser that fails with an exception.
    """
    if text.count("elif") > MAX_ELIFS:
        return True
    if _count_nesting(text) <= MAX_CHAIN:
        return False
    start = 0
    for statement in _STATEMENT.finditer(text):
        if (
            statement.start() - start > MAX_CHAIN
            and _count_nesting(text[start : statement.start()]) > MAX_CHAIN
        ):
            return True
        start = statement.start()
    return len(text) - start > MAX_CHAIN and _count_nesting(text[start:]) > MAX_CHAIN


def nesting_problem(text: str, *, concrete: bool = False) -> NestingProblem | None:
    """The first place in `text` that nests too deeply, or None.

    With `concrete`, also code that only nests in libcst's tree: `and`, `or` and adjacent strings.
    """
    scan = _Scan(concrete)
    for kind, token in _tokens(text, scan) if concrete else _whole_tokens(text):
        message = scan.feed(kind, token)
        if message:
            return NestingProblem(len(_LINE_END.findall(text, 0, token.start())) + 1, message)
    return None


def _whole_tokens(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for token in _TOKEN.finditer(text):
        kind = str(token.lastgroup)
        yield ("newline" if kind == "indent" else kind), token


def _tokens(text: str, scan: _Scan) -> Iterator[tuple[str, re.Match[str]]]:
    """Tokens, including those inside f-strings, which may contain any code and further strings: libcst's parser
    descends into them.

    `scan` knows which bracket ends a replacement field. Each token is fed to it before the next one is read.
    """
    position = 0
    strings: list[
        tuple[str, int]
    ] = []  # the open f-strings: their quotes, and the number of brackets around them
    literal = False  # whether the next characters are text of the innermost one, not code
    while True:
        if literal:
            quotes, depth = strings[-1]
            in_spec = len(scan.brackets) > depth
            position = _text_end(text, position, quotes, in_spec)
            if text.startswith("{", position) or (in_spec and text.startswith("}", position)):
                literal = False
            else:  # its end, or the end of a line that leaves it open
                position += len(quotes) if text.startswith(quotes, position) else 0
                strings.pop()
                scan.after_operand = scan.after_string = True
                literal = False
        token = _TOKEN.search(text, position)
        if token is None:
            return
        position = token.end()
        kind = str(token.lastgroup)
        formatted = _FORMATTED.match(token.group()) if kind == "string" else None
        if formatted:
            strings.append((formatted[1], len(scan.brackets)))
            position, literal = token.start() + formatted.end(), True
        yield ("newline" if kind == "indent" else kind), token
        if strings and not literal:
            left = len(scan.brackets) - strings[-1][1]
            if token.group() == "}" and left <= 0:
                literal = True
            elif token.group().startswith(":") and left == 1:
                position, literal = token.start() + 1, True


def _text_end(text: str, position: int, quotes: str, in_spec: bool) -> int:
    """Where the literal text of an f-string ends: at its quotes, at a field, or at the end of a line that it may not
    cross."""
    while position < len(text):
        if text.startswith(quotes, position):
            return position
        character = text[position]
        if character in "{}":
            if in_spec or not text.startswith(character * 2, position):
                if character == "{" or in_spec:
                    return position
            else:
                position += 1
        elif character == "\\" and text[position + 1 : position + 2] not in ("{", "}"):
            position += 1
        elif character in "\r\n" and len(quotes) == 1:
            return position
        position += 1
    return position


def _count_nesting(text: str) -> int:
    count = sum(map(text.count, _NESTING))
    return count + sum(map(text.count, _NESTING_WORDS))


class _Bracket:
    """The chains of nesting operators at one bracket level."""

    __slots__ = ("chains", "lambdas")

    def __init__(self) -> None:
        self.chains = [0] * _LEVELS  # by binding strength
        self.lambdas = 0  # lambdas before their colon

    def nest(self, binding: int) -> None:
        self.chains[binding] += 1
        for tighter in range(binding + 1, _LEVELS):
            self.chains[tighter] = 0

    def reset(self) -> None:
        self.chains = [0] * _LEVELS
        self.lambdas = 0


class _Scan:
    def __init__(self, concrete: bool) -> None:
        self.concrete = concrete
        self.brackets = [_Bracket()]
        self.outer = 0  # the depth of all brackets except the innermost
        self.outer_depths: list[int] = []
        self.after_operand = False
        self.after_string = False
        self.statement_start = True
        self.indent = ""
        self.elifs: list[tuple[str, int]] = []  # indentation and length of each open chain

    def feed(self, kind: str, token: re.Match[str]) -> str | None:
        """Processes the next token; returns a message if it nests too deeply."""
        if kind == "skip":
            return None
        level = self.brackets[-1]
        text = token.group()
        if kind == "newline":
            if len(self.brackets) == 1:
                level.reset()
                self.statement_start, self.indent = True, token.group("indent")
                self.after_operand = self.after_string = False
            return None
        first, self.statement_start = self.statement_start, False
        if kind == "word":
            return self._word(text, first)
        if first:
            self._close_elifs()
        was_operand, was_string = self.after_operand, self.after_string
        self.after_operand = kind in ("string", "number", "close")
        self.after_string = kind == "string"
        if kind == "string" and was_string and self.concrete:
            level.chains[_TRAILER] += 1
        elif kind == "operator":
            level.nest(_BINDING[text] if was_operand or text in "~." else _UNARY)
        elif kind == "open":
            if was_operand:
                level.chains[_TRAILER] += 1
            return self._open()
        elif kind == "close":
            if len(self.brackets) > 1:
                self.brackets.pop()
                self.outer = self.outer_depths.pop()
            return None
        elif kind == "separator":
            self._separate(text)
            return None
        return self._too_deep()

    def _word(self, word: str, first: bool) -> str | None:
        level = self.brackets[-1]
        self.after_operand = word not in _NOT_OPERANDS
        self.after_string = False
        if first:
            if word == "elif":
                return self._elif()
            if word != "else":
                self._close_elifs()
            if word in ("if", "while"):
                return None
        if word == "lambda":
            level.nest(_CONDITIONAL)
            level.lambdas += 1
        elif word == "if":
            level.nest(_CONDITIONAL)
        elif word == "not" or (self.concrete and word in ("and", "or")):
            level.nest(_BOOLEAN)
        elif word in ("and", "or", "in", "is", "else", "for"):
            for tighter in range(_BOOLEAN + 1, _LEVELS):
                level.chains[tighter] = 0
        elif word == "await":
            level.nest(_UNARY)
        return self._too_deep()

    def _separate(self, text: str) -> None:
        level = self.brackets[-1]
        if level.lambdas and text in (",", ":", "="):
            level.lambdas -= text == ":"  # its parameters and its colon do not end a lambda
        elif text in (",", ";", ":", "=", "->", ":=") or len(self.brackets) == 1:
            level.reset()
        else:  # a comparison
            for tighter in range(_BOOLEAN + 1, _LEVELS):
                level.chains[tighter] = 0

    def _open(self) -> str | None:
        self.outer_depths.append(self.outer)
        self.outer += sum(self.brackets[-1].chains) + 1
        self.brackets.append(_Bracket())
        self.after_operand = False
        if len(self.brackets) - 1 > MAX_BRACKETS:
            return f"more than {MAX_BRACKETS} nested brackets are refused; split the expression or exclude the file"
        return self._too_deep()

    def _too_deep(self) -> str | None:
        if self.outer + sum(self.brackets[-1].chains) <= MAX_CHAIN:
            return None
        return (
            f"an expression of more than {MAX_CHAIN} nested operators is refused; "
            "split the expression or exclude the file"
        )

    def _elif(self) -> str | None:
        self.after_operand = False
        self._close_elifs(keep_same=True)
        if self.elifs and self.elifs[-1][0] == self.indent:
            self.elifs[-1] = (self.indent, self.elifs[-1][1] + 1)
        else:
            self.elifs.append((self.indent, 1))
        if sum(count for _, count in self.elifs) > MAX_ELIFS:
            return f"a chain of more than {MAX_ELIFS} `elif`s is refused; use a table or exclude the file"
        return None

    def _close_elifs(self, *, keep_same: bool = False) -> None:
        """Closes the chains that a statement at this indentation ends."""
        while self.elifs and len(self.elifs[-1][0]) >= len(self.indent) + keep_same:
            self.elifs.pop()
