"""What the releases of JAX and its ecosystem contain, removed and changed."""

from jaxlint.jaxapi.api_names import known_names
from jaxlint.jaxapi.attributes import attribute_change, attribute_rewrite, call_of
from jaxlint.jaxapi.history import (
    NEWEST,
    PACKAGES,
    ApiChange,
    Target,
    call_change,
    describe_option,
    describe_replacement,
    gone_options,
    has_row,
    keyword_changes,
    lookup,
    lookup_module,
    package_of,
)
from jaxlint.jaxapi.rewrites import (
    by_keyword,
    call_parameters,
    keyword_risk,
    rename_parameters,
    risk,
    takes_by_keyword,
)
from jaxlint.jaxapi.versions import VersionError, parse_range, parse_version

__all__ = [
    "NEWEST",
    "PACKAGES",
    "ApiChange",
    "Target",
    "VersionError",
    "attribute_change",
    "attribute_rewrite",
    "by_keyword",
    "call_change",
    "call_of",
    "call_parameters",
    "describe_option",
    "describe_replacement",
    "gone_options",
    "has_row",
    "keyword_changes",
    "keyword_risk",
    "known_names",
    "lookup",
    "lookup_module",
    "package_of",
    "parse_range",
    "parse_version",
    "rename_parameters",
    "risk",
    "takes_by_keyword",
]
