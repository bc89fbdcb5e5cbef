"""Journals of a run that was killed whole, the record with it: taken up by the next run.

systemd keeps the descriptors of a service's memory while the service is away, when its unit allows
so (`FileDescriptorStoreMax=`), and hands them to its next start. Each run leaves its journals
there, and takes them back at a clean end. What the next run finds, it gives to its record.
"""

import os
from collections.abc import Callable, Iterable

from inspectd.bus.journal import MemfdJournal
from inspectd.errors import ArenaFault
from inspectd.host.notify import Notifier

__all__ = ["Former", "are_recorded", "name_of"]

_PREFIX = "journal-"


def name_of(run_id: str) -> str:
    """Under which name the journals of a run are kept."""
    return _PREFIX + run_id


class Former:
    """What earlier runs left."""

    def __init__(self, notifier: Notifier, log: Callable[..., None]) -> None:
        """Take up what was handed down; what is no journal of this version is let go."""
        self._notifier, self._log = notifier, log
        self._journals: dict[MemfdJournal, str] = {}
        for name, fd in notifier.handed_down():
            self._take_up(name, fd)

    @property
    def fds(self) -> tuple[int, ...]:
        """For the record to inherit."""
        return tuple(journal.fd for journal in self._journals)

    def let_go(self) -> None:
        """Have systemd forget the journals of a run when all of their parts are recorded."""
        for name in sorted(set(self._journals.values())):
            journals = [journal for journal, of in self._journals.items() if of == name]
            if are_recorded(journals):
                self._notifier.forget(name)
                for journal in journals:
                    del self._journals[journal]
                    journal.close()

    def _take_up(self, name: str, fd: int) -> None:
        try:
            self._journals[MemfdJournal.attach(fd)] = name
        except ArenaFault as fault:
            self._log("warning", "journal_refused", name=name, error=str(fault))
            self._notifier.forget(name)
            os.close(fd)

    def close(self) -> None:
        """Let go of the memory; systemd keeps what is not recorded yet."""
        for journal in self._journals:
            journal.close()
        self._journals.clear()


def are_recorded(journals: Iterable[MemfdJournal]) -> bool:
    """Whether nothing is left in them: the record has every event, and every part is told."""
    return not any(journal.unrecorded() or journal.past().held for journal in journals)
