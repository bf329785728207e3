"""attrs: decorators that generate dataclasses, under both of its names."""

from __future__ import annotations

from jaxlint.staging.values.class_models import DATACLASS, decorator, makes_fields

decorator("attrs.frozen", DATACLASS, freezes="always")
for _name in ("attrs.define", "attr.s", "attr.attrs", "attr.dataclass"):
    decorator(_name, DATACLASS, freezes="told")
makes_fields("attrs.field", "attr.ib")
