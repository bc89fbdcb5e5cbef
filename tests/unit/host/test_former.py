"""Journals of a run that was killed whole: handed down, recorded, let go."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspectd.bus.journal import MemfdJournal
from inspectd.frame import Reason, Stamp, Ticket, Verdict
from inspectd.host.former import Former, name_of
from inspectd.host.notify import Notifier
from inspectd.ports import Origin, Standing

_ORIGIN = Origin("run-1", "line-1", "cam-1", "bottles", "0123")


class _Manager:
    """A service manager that keeps descriptors."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(5)

    def heard(self) -> tuple[str, list[int]]:
        text, fds, _, _ = socket.recv_fds(self.socket, 4096, 16)
        return text.decode(), fds


class _Handed(Notifier):
    """As if these descriptors had been handed down."""

    def __init__(self, path: Path, given: list[tuple[str, int]]) -> None:
        super().__init__({"NOTIFY_SOCKET": str(path)})
        self.given = given

    def handed_down(self) -> list[tuple[str, int]]:
        return self.given


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[_Manager]:
    """It listens at `notify`."""
    made = _Manager(tmp_path / "notify")
    yield made
    made.socket.close()


def test_descriptors_are_kept_under_a_name(manager: _Manager, tmp_path: Path) -> None:
    """The manager gets the memory itself, which outlives the one who sent it."""
    journal = MemfdJournal.create(_ORIGIN, entries=8)
    journal.begin(7)
    notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    notifier.keep(name_of("run-1"), [journal.fd])
    journal.close()
    said, (fd,) = manager.heard()
    assert said == "FDSTORE=1\nFDNAME=journal-run-1"
    kept = MemfdJournal.attach(fd)
    assert (kept.past().start_id, kept.origin) == (7, _ORIGIN)
    kept.close()
    notifier.forget(name_of("run-1"))
    assert manager.heard() == ("FDSTOREREMOVE=1\nFDNAME=journal-run-1", [])


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "0", "LISTEN_FDNAMES": ""}, []),
        ({"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a"}, []),
        ({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "many", "LISTEN_FDNAMES": "a"}, []),
        ({}, []),
    ],
)
def test_what_is_not_for_us_is_not_taken(
    environment: dict[str, str], expected: list[tuple[str, int]]
) -> None:
    """And nobody after us finds the variables."""
    assert Notifier(environment).handed_down() == expected
    assert environment == {}


def test_a_former_journal_is_let_go_when_all_is_recorded(manager: _Manager, tmp_path: Path) -> None:
    """Not before: the disk may refuse it, and the next start may have to try again."""
    theirs = MemfdJournal.create(_ORIGIN, entries=8)
    ticket = Ticket(0, 1, deadline_ns=9).stamped(Stamp.FIRED, 5)
    theirs.keep(Standing.OPEN, ticket)
    notifier = _Handed(tmp_path / "notify", [("journal-run-1", os.dup(theirs.fd))])
    former = Former(notifier, lambda *_words, **_fields: None)
    former.let_go()
    assert former.fds != ()
    theirs.past()
    theirs.keep(Standing.TOLD, ticket.decided(Verdict.FAULT, Reason.PROCESS_LOST, 6))
    former.let_go()
    assert former.fds
    theirs.confirm([entry.number for entry in theirs.unrecorded()])
    former.let_go()
    assert len(former.fds) == 0
    assert manager.heard() == ("FDSTOREREMOVE=1\nFDNAME=journal-run-1", [])
    former.close()
    theirs.close()


def test_what_is_no_journal_of_ours_is_let_go_at_once(manager: _Manager, tmp_path: Path) -> None:
    """An update of the program may have changed it; that is said."""
    said: list[str] = []
    notifier = _Handed(tmp_path / "notify", [("journal-run-1", os.memfd_create("other"))])
    former = Former(notifier, lambda _level, event, **_fields: said.append(event))
    assert former.fds == ()
    assert said == ["journal_refused"]
    assert manager.heard()[0].startswith("FDSTOREREMOVE=1")
