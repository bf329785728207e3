"""JSON schemas of the settings and of the output, generated from their declarations."""

from __future__ import annotations

from typing import Any

from jaxlint.finding import Severity
from jaxlint.registry import all_rules
from jaxlint.report.json_document import VERSION
from jaxlint.rule import CATEGORIES
from jaxlint.settings import SETTINGS

_DIALECT = "http://json-schema.org/draft-07/schema#"  # the draft that TOML editors support


def settings_schema() -> dict[str, Any]:
    """The schema of jaxlint.toml, and of the table `tool.jaxlint` of pyproject.toml."""
    rules = all_rules()
    names = [*(rule.name for rule in rules), *(rule.code for rule in rules), *CATEGORIES, "ALL"]
    properties: dict[str, Any] = {}
    for setting in SETTINGS:
        default = {} if setting.default is None else {"default": setting.default}
        properties[setting.key] = {"description": setting.meaning, **setting.kind.schema, **default}
    return {
        "$schema": _DIALECT,
        "title": "Settings of jaxlint",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "$defs": {
            "rule": {
                "description": "A rule by code, by name, by category or by group of codes (JAX1), or ALL.",
                # Names are suggested; groups of codes, and rules of other packs, are accepted.
                "anyOf": [{"enum": names}, {"type": "string", "minLength": 1}],
            }
        },
    }


def output_schema() -> dict[str, Any]:
    """The schema of `--output-format json-document`; `json` is its list of findings."""
    text, number = {"type": "string"}, {"type": "integer", "minimum": 0}
    place = {"line": number, "column": number, "end_line": number, "end_column": number}
    edit = _object({"path": text, **place, "content": text}, optional={"cell": number})
    fix = _object({"safety": {"enum": ["safe", "unsafe"]}, "message": text, "edits": _list(edit)})
    finding = _object(
        {
            "path": text,
            **place,
            "cell": _or_null(number),
            "code": text,
            "name": text,
            "category": text,
            "severity": {"enum": [str(severity) for severity in Severity]},
            "message": text,
            "reason": text,
            "function": _or_null(text),
            "fix": _or_null(fix),
            "url": text,
        }
    )
    error = _object({"path": text, "line": _or_null(number), "message": text})
    counts = ("files", *(f"{severity}s" for severity in Severity), "known", "unchanged")
    return {
        "$schema": _DIALECT,
        "title": "Output of jaxlint check --output-format json-document",
        **_object(
            {
                "version": {"const": VERSION},
                "tool": _object({"name": text, "version": text}),
                "findings": _list(finding),
                "errors": _list(error),
                "warnings": _list(text),
                "summary": _object(dict.fromkeys(counts, number)),
            }
        ),
    }


def _object(properties: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these keys. Later releases may add keys without a new version."""
    return {"type": "object", "required": list(properties), "properties": {**properties, **(optional or {})}}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}
