"""What systemd is told."""

import socket
from pathlib import Path

from inspectd.host.notify import Notifier


def _heard(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(address)
    listener.settimeout(5)
    return listener


def test_lines_of_names_and_values_are_sent(tmp_path: Path) -> None:
    """As sd_notify(3) wants them; an @ inside a path stays one."""
    path = str(tmp_path / "inspectd@pcb.sock")
    with _heard(path) as listener:
        Notifier({"NOTIFY_SOCKET": path}).send(READY=1, STATUS="ready")
        assert listener.recv(100) == b"READY=1\nSTATUS=ready"


def test_an_abstract_address_is_understood(tmp_path: Path) -> None:
    """A leading @ stands for a zero byte."""
    name = f"inspectd-test-{tmp_path.name}"
    with _heard("\0" + name) as listener:
        Notifier({"NOTIFY_SOCKET": "@" + name}).send(STOPPING=1)
        assert listener.recv(100) == b"STOPPING=1"


def test_without_a_manager_nothing_happens() -> None:
    """Nor when the manager is gone."""
    Notifier({}).send(READY=1)
    Notifier({"NOTIFY_SOCKET": "/nowhere/at/all"}).send(READY=1)


def test_the_watchdog_period_is_read() -> None:
    """Microseconds there, nanoseconds here; nonsense means that nobody asks."""
    assert Notifier({"WATCHDOG_USEC": "3000000"}).watchdog_ns == 3_000_000_000
    assert Notifier({"WATCHDOG_USEC": "soon"}).watchdog_ns == 0
