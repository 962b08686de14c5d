"""Where facts come from, in words that hold no password: files as they are, databases without what is secret."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

_USER = re.compile(r"(?<=://)\S*@")
_SECRET = re.compile(
    r"(?i)\b((?:\w*(?:password|passwd|pwd|secret|token|sslkey|sslpassword|access_?key)\w*)\s*=\s*)('[^']*'|[^&\s'\"]+)"
)
_NOTICED = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
"""By which the end of a network is noticed within a minute; systems by themselves take hours."""
_PASSWORD = re.compile(r"://[^/@:\s]*:(\S*)@")


def public(address: object) -> str:
    """Return an address or a query without user, password and other secrets."""
    return _SECRET.sub(r"\1***", _USER.sub("", str(address)))


def short_name(source: object) -> str:
    """Return a name for the graph of a source: that of its file, folder or database, without ending."""
    address = public(source).partition("?")[0] if is_database(source) else str(source)
    last = re.split("[/:]", address)[-1] if is_database(source) else Path(address).resolve().name
    return last.lstrip(".").partition(".")[0] or "graph"


def without_secrets(message: str, address: str) -> str:
    """Return a library's message about an address, with what is secret in the address taken out."""
    secrets = {*_PASSWORD.findall(address), *(found[1] for found in _SECRET.findall(address))}
    pieces = {piece for secret in secrets for piece in re.split("[@:/]", secret) if len(piece) > 3}  # of one unescaped
    for secret in sorted({*secrets, *pieces, *map(unquote, secrets)} - {""}, key=len, reverse=True):
        message = message.replace(secret, "***")
    return public(message)


def waiting_options(address: str, seconds: int) -> dict[str, int]:
    """Return for how long PostgreSQL's library waits: to connect some seconds, and never for a server that is gone.

    What the address says itself stays.
    """
    options = {"connect_timeout": seconds} | _NOTICED
    return {name: value for name, value in options.items() if name not in address}


def has_password(address: str) -> bool:
    """Say whether an address holds a secret."""
    return any(_PASSWORD.findall(address)) or bool(_SECRET.search(address))


def is_database(source: object) -> bool:
    """Say whether a source is written as the address of a database: by a scheme, and not the name of a file."""
    text = str(source)
    return bool(re.match(r"(duckdb|sqlite):|[a-z][a-z0-9+.-]+://", text, re.IGNORECASE)) and not Path(text).exists()
