"""The protocols by which parts ask what lies above them, against the parts that answer."""

from __future__ import annotations

import inspect

import pytest

from jaxlint.staging.evaluator.ports import Language, Reach, Staging, Tracking
from jaxlint.staging.interpreter import Interpreter, answered
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.project import Project

PORTS = {"language": Language, "tracking": Tracking, "staging": Staging, "reach": Reach}


@pytest.mark.parametrize("name", PORTS)
def test_each_question_is_answered_as_it_is_asked(name: str) -> None:
    interpreter = Interpreter(Project([]), Listeners())
    port = getattr(interpreter, name)
    for question, asked in vars(PORTS[name]).items():
        if question.startswith("_"):
            continue
        answer = inspect.signature(getattr(port, question))
        parameters = [p for p in inspect.signature(asked).parameters.values() if p.name != "self"]
        assert [(p.name, p.kind, p.default) for p in answer.parameters.values()] == [
            (p.name, p.kind, p.default) for p in parameters
        ], question
        assert answer.return_annotation == inspect.signature(asked).return_annotation, question


class _Port:
    def ask(self) -> None: ...


class _Answer:
    def ask(self) -> None: ...


def test_a_question_has_one_answer() -> None:
    with pytest.raises(TypeError, match="no part answers _Port: ask"):
        answered(_Port, [])
    with pytest.raises(TypeError, match="two parts answer"):
        answered(_Port, [_Answer(), _Answer()])
