"""Which network interface of this machine leads to another one."""

from __future__ import annotations

import socket
import struct
import sys
from contextlib import suppress

_ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR of Linux
_ANY_PORT = 9


def interface_towards(address: str) -> str | None:
    """Return the name of the interface whose address this machine has towards another; None where it is not known."""
    if sys.platform != "linux" or not address:
        return None
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((address, _ANY_PORT))  # which sends nothing
        own = probe.getsockname()[0]
        return next((name for _, name in socket.if_nameindex() if _address(probe, name) == own), None)
    return None


def _address(probe: socket.socket, interface: str) -> str | None:
    from fcntl import ioctl

    with suppress(OSError):  # an interface without an address
        found = ioctl(probe.fileno(), _ADDRESS_OF_INTERFACE, struct.pack("256s", interface.encode()[:15]))
        return socket.inet_ntoa(found[20:24])
    return None
