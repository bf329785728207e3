"""The digest of the exported data of one function: two equal digests mean the same programs, inputs and
candidates.

Source lines do not count. They are listed separately, in program order, so that results about them follow
moved lines.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jax import export

from jaxlint_runtime.compat import inner_jaxprs, open_jaxpr, user_frames
from jaxlint_runtime.exported.artefacts import Input, Kept, Record
from jaxlint_runtime.inspection.hlo import own
from jaxlint_runtime.protocol.json_records import to_plain

# The locations in StableHLO: definitions, a line each, and references after operations and arguments.
_PLACES = re.compile(r'^#loc\d* = .*\n?| loc\((?:#loc\d*|"[^"\n]*"|unknown)\)', re.MULTILINE)
_MOST_TEXT = 32 * 2**20  # bytes of a serialised program that is read without its locations


def program_digest(made: export.Exported, data: bytes) -> str:
    """The digest of an exported program without its locations; `data` is its serialised form."""
    text = data if len(data) > _MOST_TEXT else _PLACES.sub("", made.mlir_module()).encode()
    outside = f"{made.platforms} {made.nr_devices} {made.in_avals} {made.module_kept_var_idx}"
    return _digest(outside.encode(), text)


def content_digest(record: Record, programs: Mapping[str, str]) -> str:
    """The digest of a record; `programs` has those of its files."""
    findings = sorted((str(one.get("code")), str(one.get("name"))) for one in record.function["findings"])
    parts: list[Any] = [
        record.target,
        findings,
        record.donated,
        record.outputs,
        record.updates,
        record.constants,
        record.dtype,
        record.differentiates,
        {name: [known, one] for name, (known, one) in record.candidates.items()},
        record.donations,
        record.config,
        {" + ".join(names): _version(kept, programs) for names, kept in record.versions.items()},
    ]
    described = json.dumps(to_plain(parts), sort_keys=True).encode()
    return _digest(described, *(part for one in record.inputs for part in _input(one)))


def places_in(jaxpr: Any) -> list[tuple[str, int]]:
    """The files and lines of its operations, each once, in program order."""
    return list(dict.fromkeys(_places(jaxpr)))


def _places(jaxpr: Any) -> Iterator[tuple[str, int]]:
    for eqn in open_jaxpr(jaxpr).eqns:
        place = own(user_frames(eqn))
        if place is not None:
            yield place[0], place[1]
        for _, body in inner_jaxprs(eqn):
            yield from _places(body)


def _version(kept: Kept, programs: Mapping[str, str]) -> dict[str, Any]:
    traced = kept.traced
    facts: list[Any] = []
    if traced is not None:
        peaks = {str(donated): found.peak for donated, found in traced.memory.items()}
        facts = [traced.work, traced.products, traced.kernels, traced.effects, peaks]
    files = {role: programs[name] for role, name in kept.files.items()}
    return {"files": files, "missing": kept.missing, "notes": kept.notes, "facts": facts}


def _input(one: Input) -> Iterator[bytes]:
    yield repr((one.path, one.label, one.key, one.shape, one.weak_type, one.placement)).encode()
    if isinstance(one.value, np.ndarray | np.generic):
        yield f"{one.value.dtype} {one.value.shape}".encode()
        yield np.ascontiguousarray(one.value).tobytes()
    else:
        yield repr(one.value).encode()


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
