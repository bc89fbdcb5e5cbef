"""EDGE (systemd): what the service manager is told, by its datagram socket.

The protocol is sd_notify(3): lines of NAME=VALUE. Without NOTIFY_SOCKET in the environment, nothing
is sent.
"""

import os
import socket
from collections.abc import Mapping

__all__ = ["Notifier"]


class Notifier:
    """Tells systemd how the line is."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """Take NOTIFY_SOCKET and WATCHDOG_USEC from the environment, once."""
        given = os.environ if environment is None else environment
        address = given.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec = given.get("WATCHDOG_USEC", "")
        self.watchdog_ns = int(usec) * 1000 if usec.isdigit() else 0
        """Longest time between two `WATCHDOG=1`; 0: nobody asks for them."""

    def send(self, **values: str | int) -> None:
        """Send e.g. `READY=1, STATUS="..."`; a manager that does not listen is no fault of ours."""
        if not self._address:
            return
        text = "\n".join(f"{name}={value}" for name, value in values.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(0)
            try:
                sender.sendto(text.encode(), self._address)
            except OSError:
                return
