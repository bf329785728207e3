"""json, yaml and toml: what a document holds. Its sequences are lists, and its mappings are dicts."""

from __future__ import annotations

import json
from typing import Any

from jaxlint.staging.evaluator.external_models import LibraryCall, calls
from jaxlint.staging.values import (
    UNKNOWN,
    DictValue,
    ListValue,
    Static,
    Unknown,
    Value,
    constant,
    join_all,
)
from jaxlint.staging.values.plain import Document

_YAML = (
    *("yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load"),
    *("json.load", "simplejson.load", "simplejson.loads", "orjson.loads", "ujson.load", "ujson.loads"),
    *("tomllib.load", "tomllib.loads", "tomli.load", "tomli.loads", "toml.load", "toml.loads"),
)
_LONGEST = 20_000  # characters of a text that is read


@calls(*_YAML)
def document(call: LibraryCall) -> Value:
    return Unknown(Document(call.name))


@calls("json.loads")
def json_text(call: LibraryCall) -> Value:
    text = constant(call.args[0]) if call.args else None
    if isinstance(text, str) and len(text) <= _LONGEST and not call.kwargs:
        try:
            return _value(json.loads(text), call)
        except (ValueError, RecursionError):
            return UNKNOWN
    return Unknown(Document(call.name)) if not call.kwargs else UNKNOWN


def _value(content: Any, call: LibraryCall) -> Value:
    stage = call.frame.stage
    if isinstance(content, list):
        items = [_value(one, call) for one in content]
        return ListValue(items, join_all(items) if items else UNKNOWN, stage=stage)
    if isinstance(content, dict):
        return DictValue({key: _value(one, call) for key, one in content.items()}, None, stage)
    return Static(content)
