"""Downloads over HTTP by the standard library: resumed where they were cut off, put in place in one step."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path

from clausal.observer import Observer

_CHUNK_BYTES = 1 << 16
_SLOWEST_BYTES, _SLOW_SECONDS = 60_000, 60.0
"""A server that sends less than so many bytes in so many seconds is given up: it would take for ever."""
_HOPELESS = (400, 401, 403, 404, 410, 451)


class DownloadError(Exception):
    """One address did not deliver; the next mirror may."""


def download(
    address: str,
    target: Path,
    *,
    label: str,
    observer: Observer | None = None,
    timeout: float = 30.0,
    attempts: int = 3,
    pause: float = 1.0,
) -> None:
    """Download ``address`` to ``target``; what has arrived before stays in ``target.part`` and is resumed."""
    part = target.with_name(target.name + ".part")
    for attempt in range(1, attempts + 1):
        try:
            _transfer(address, part, label, observer, timeout)
        except urllib.error.HTTPError as error:
            error.close()
            problem, final = f"HTTP {error.code} {error.reason}", error.code in _HOPELESS
        except urllib.error.URLError as error:
            problem, final = f"{error.reason}", isinstance(error.reason, socket.gaierror)
        except (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException, EOFError) as error:
            problem, final = f"{error}" or type(error).__name__, False
        else:
            part.replace(target)
            return
        if final or attempt == attempts:
            raise DownloadError(problem)
        time.sleep(pause * attempt)


def _transfer(address: str, part: Path, label: str, observer: Observer | None, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(address, headers={"User-Agent": "clausal", "Accept-Encoding": "identity"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the part is as long as the file or longer: it is not to be trusted
            part.unlink()
        raise
    with response:
        resumed = response.status == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if not resumed:  # the server sends the whole file, whatever was asked for
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length and length.isdecimal() else None
        with part.open("ab" if resumed else "wb") as file:
            until, enough = time.monotonic() + _SLOW_SECONDS, have + _SLOWEST_BYTES
            while chunk := response.read1(_CHUNK_BYTES):
                file.write(chunk)
                have += len(chunk)
                if observer is not None:
                    observer.advanced(label, have, total, "bytes")
                if time.monotonic() > until:
                    if have < enough:
                        raise TimeoutError(
                            f"the server sends less than {_SLOWEST_BYTES:,} bytes in {_SLOW_SECONDS:g} s"
                        )
                    until, enough = time.monotonic() + _SLOW_SECONDS, have + _SLOWEST_BYTES
            file.flush()
            os.fsync(file.fileno())
    if total is not None and have < total:
        raise EOFError(f"the connection ended after {have:,} of {total:,} bytes")
