"""Who may ask, and what browsers are told: the token, the hosts, and headers of safety."""

from __future__ import annotations

import hmac
import ipaddress
from pathlib import Path

from clausal.errors import InputError
from clausal.files import read_text
from clausal.serve.problems import Problem

_SHORTEST_TOKEN = 16
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def read_token(path: Path) -> bytes:
    """Read the token of a service from a file, which holds nothing else."""
    token = read_text(path).strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or any(letter.isspace() for letter in token):
        raise InputError(
            f"{path}: a token has at least {_SHORTEST_TOKEN} letters of ASCII and no blanks; "
            "make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )
    return token.encode("ascii")


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a host's name or address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, token: bytes | None) -> None:
    """Refuse to listen where others can reach the service unless it asks for a token."""
    if token is None and not is_loopback(host):
        raise InputError(
            f"--host {host}: others could reach the service; give it a token: --token-file FILE, "
            "or listen on this machine alone: --host 127.0.0.1"
        )


class Guard:
    """Lets requests pass that have the token. Without one, only those pass that name this machine as the host.

    A page of another site can have its name resolved to this machine, but not send another host than that name.
    """

    def __init__(self, token: bytes | None, host: str) -> None:
        self._expected = None if token is None else b"Bearer " + token
        self._host = host

    def check(self, headers: dict[bytes, bytes], *, needs_token: bool) -> None:
        """Raise a problem for a request that may not pass."""
        if self._expected is None:
            host = _without_port(headers.get(b"host", b"").decode("latin-1"))
            if host and host != self._host and not is_loopback(host):
                raise Problem(403, "this service answers to this machine alone: use localhost in its address")
        elif needs_token and not hmac.compare_digest(headers.get(b"authorization", b""), self._expected):
            raise Problem(401, "send the token of the service: Authorization: Bearer TOKEN")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].split("]")[0]
    return host.rsplit(":", 1)[0] if host.count(":") == 1 else host
