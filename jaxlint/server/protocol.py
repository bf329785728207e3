"""Messages of an editor that cannot be read: each request is answered, and the log has one line for each."""

from __future__ import annotations

import logging
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams, JsonRpcMethodNotFound
from pygls.protocol import LanguageServerProtocol


class Protocol(LanguageServerProtocol):
    """The protocol of pygls, which leaves a request without an answer if it cannot be read."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except Exception as error:
            number, method = data.get("id"), data.get("method")
            if isinstance(number, int | str) and isinstance(method, str):
                known = self.get_message_type(method) is not None
                why = JsonRpcInvalidParams() if known else JsonRpcMethodNotFound.of(method)
                self._send_response(number, error=why.to_response_error())
            raise error


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = (record.getMessage().splitlines() or [""])[0]
        error = record.exc_info[1] if record.exc_info else None
        told = (str(error).splitlines() or [""])[0] if error is not None else ""
        named = f": {type(error).__name__}: {told}".removesuffix(": ") if error is not None else ""
        return f"jaxlint server: {text}{named}"


def log_in_lines() -> None:
    """Makes pygls log one line for each event, without tracebacks."""
    logger = logging.getLogger("pygls")
    if not any(isinstance(one.formatter, _OneLine) for one in logger.handlers):
        handler = logging.StreamHandler()
        handler.setFormatter(_OneLine())
        logger.addHandler(handler)
        logger.propagate = False
