"""EDGE (systemd): what the service manager is told, by its datagram socket, and what it keeps.

The protocol is sd_notify(3): lines of NAME=VALUE. Without NOTIFY_SOCKET in the environment, nothing
is sent. Descriptors that it keeps come back as sd_listen_fds(3) says.
"""

import array
import os
import socket
from collections.abc import Mapping, MutableMapping, Sequence

__all__ = ["Notifier"]

_PATIENCE_S = 1.0
"""What must not be lost may wait so long for a manager whose queue is full; news do not wait."""
_FIRST_FD = 3
"""SD_LISTEN_FDS_START."""


class Notifier:
    """Tells systemd how the line is."""

    def __init__(self, environment: MutableMapping[str, str] | None = None) -> None:
        """Take NOTIFY_SOCKET and WATCHDOG_USEC from the environment, once."""
        given = self._given = os.environ if environment is None else environment
        address = given.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        usec = given.get("WATCHDOG_USEC", "")
        self.watchdog_ns = int(usec) * 1000 if usec.isdigit() else 0
        """Longest time between two `WATCHDOG=1`; 0: nobody asks for them."""

    def handed_down(self) -> list[tuple[str, int]]:
        """Name and number of each descriptor that was kept from an earlier start, once.

        They are ours alone from now on: no child inherits them unasked, nor hears of them.
        """
        pid, count, names = (
            self._given.pop(name, "") for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
        )
        if pid != str(os.getpid()) or not count.isdigit():
            return []
        fds = range(_FIRST_FD, _FIRST_FD + int(count))
        for fd in fds:
            os.set_inheritable(fd, False)  # noqa: FBT003 - the signature is os's
        return list(zip(names.split(":"), fds, strict=False))

    def keep(self, name: str, fds: Sequence[int]) -> None:
        """Have these descriptors kept over the death of this process, under one name."""
        self._send({"FDSTORE": 1, "FDNAME": name}, fds, timeout_s=_PATIENCE_S)

    def forget(self, name: str) -> None:
        """Have the descriptors of this name kept no longer."""
        self._send({"FDSTOREREMOVE": 1, "FDNAME": name}, timeout_s=_PATIENCE_S)

    def send(self, **values: str | int) -> None:
        """Send e.g. `READY=1, STATUS="..."`; a manager that does not listen is no fault of ours."""
        self._send(values)

    def _send(
        self, values: Mapping[str, str | int], fds: Sequence[int] = (), timeout_s: float = 0
    ) -> None:
        if not self._address:
            return
        text = "\n".join(f"{name}={value}" for name, value in values.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(timeout_s)
            try:
                # not `socket.send_fds`, which forgets the address (Python up to 3.13)
                sender.sendmsg([text.encode()], _rights(fds), 0, self._address)
            except OSError:
                return


def _rights(fds: Sequence[int]) -> "list[tuple[int, int, array.array[int]]]":
    """Descriptors as ancillary data of one message (unix(7), SCM_RIGHTS)."""
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
