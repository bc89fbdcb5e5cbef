"""EDGE (memfd): what one sink may not forget, in memory that outlives it.

    header | word of entry 0, 1, ... | marks | confirmations | entry 0: page, page | entry 1 ...

Anonymous memory that the supervisor makes and sink and record inherit, as with the arenas. Not a
file: a write into the page cache, and a store into a mapped file as well, may have to wait for the
disk's own journal, and the sink's deadlines with it. What lies here is lost only with the machine.

Torn writes. Each entry has two pages. A change writes the page that does not count, then one
aligned 8-byte word (`number`, which page, how far) that makes it count: a process that is killed
at any instruction leaves the old page or the new one. Each page carries a sum, so that a reader on
another core, which may see the word before the page, sees that as well, and looks again later.

Single writers. Words, marks and pages are the sink's; confirmations are the record's. A
confirmation names the number of its entry: it means nothing for a later entry in the same place.

Places. The number of an entry, modulo `ENTRIES`, is its place. Numbers go up; places that hold
parts not told yet are passed over, and so is that of the part told last: a later life goes on after
it. When nothing is free, the event that was told first gives way: not the one with the lowest
number, for a part has its number from its trigger on.
"""

import itertools
import json
import mmap
import os
import struct
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from inspectd.bus.entry import ENTRY_BYTES, Page, decode, encode, mark_of
from inspectd.errors import ArenaFault
from inspectd.frame import Stamp, Ticket
from inspectd.ports import Entry, Origin, Past, Standing

__all__ = ["ENTRIES", "MemfdJournal"]

ENTRIES = 4096
"""Of a station: the 1024 parts that a ledger holds at most, and at 50 parts a second one minute of
events, after which a record that stands still is killed; 17 MB."""
_MAGIC = b"inspJRNL"
_VERSION = 1
_HEADER = struct.Struct("<8sIII")
"""Magic, version, entries, bytes of a page."""
_HEADER_BYTES = 4096
_ORIGIN_AT = 128
"""Place of the origin: two bytes of length, then a JSON list."""
_BEGIN_AT = 64
"""Place of the first life's word: the trigger id after which it began, and a bit that says so."""
_HAS_BEGUN = 1 << 32
_STANDING = 0x07
_SECOND_PAGE = 0x08
_NUMBER_SHIFT = 8
_IS_COMMITTED = 1
"""Lowest bit of a confirmation; without it the record only holds the event."""

_Words: TypeAlias = "npt.NDArray[np.uint64]"


class MemfdJournal:
    """The journal of one station; implements `inspectd.ports.Journal`."""

    def __init__(self, fd: int, entries: int) -> None:
        """Map the memory behind `fd`; use `create` or `attach`."""
        self.fd = fd
        self._entries = entries
        self._map = mmap.mmap(fd, _total_bytes(entries))
        self._memory = memoryview(self._map)
        self._begun = self._memory[_BEGIN_AT : _BEGIN_AT + 8].cast("Q")
        starts = [_HEADER_BYTES + i * entries * 8 for i in range(4)]
        tables = [self._memory[a:b].cast("Q") for a, b in itertools.pairwise(starts)]
        self._words, self._marks, self._confirmed = tables
        self._pages_at = starts[-1]
        self._held: dict[tuple[int, int], int] = {}
        """Number of the entry of each part that is not told yet (the sink's)."""
        self._told: dict[int, None] = {}
        """Numbers of the events that stand here, in the order in which they were told (the
        sink's)."""
        self._settled = 0
        """Number of the part told last; 0: none yet (the sink's)."""
        self._last_number = self._last_event = self._done = 0

    @classmethod
    def create(cls, origin: Origin, entries: int = ENTRIES) -> "MemfdJournal":
        """Make an empty journal, all of its memory at once.

        Raises:
            ArenaFault: there is not enough memory.
        """
        name = f"inspectd-journal-{origin.station}"  # shows in /proc/PID/maps only
        text = json.dumps(origin).encode()
        if len(text) > _HEADER_BYTES - _ORIGIN_AT - 2:
            raise ArenaFault(f"the names of {name} are too long to keep", "take shorter names")
        fd = os.memfd_create(name[:200], os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(fd, 0, _total_bytes(entries))
            os.pwrite(fd, _header(entries), 0)
            os.pwrite(fd, len(text).to_bytes(2, "little") + text, _ORIGIN_AT)
            return cls(fd, entries)
        except OSError as error:
            os.close(fd)
            raise ArenaFault(
                f"the {_total_bytes(entries) / 1e6:.0f} MB of {name} cannot be had ({error})",
                "free memory, or take fewer stations into this line",
            ) from error

    @classmethod
    def attach(cls, fd: int) -> "MemfdJournal":
        """Use an inherited journal.

        Raises:
            ArenaFault: the memory is no journal of this version.
        """
        size = os.fstat(fd).st_size
        found = os.pread(fd, _HEADER.size, 0)
        entries = _HEADER.unpack(found)[2] if len(found) == _HEADER.size else 0
        if found != _header(entries) or size != _total_bytes(entries):
            raise ArenaFault(
                "the journal is of another version", "start the line anew: versions are mixed"
            )
        return cls(fd, entries)

    @property
    def origin(self) -> Origin:
        """Which station of which run this is of."""
        length = int.from_bytes(self._memory[_ORIGIN_AT : _ORIGIN_AT + 2], "little")
        return Origin(*json.loads(bytes(self._memory[_ORIGIN_AT + 2 : _ORIGIN_AT + 2 + length])))

    def close(self) -> None:
        """Let go of the memory."""
        for view in (self._begun, self._words, self._marks, self._confirmed, self._memory):
            view.release()
        self._map.close()
        os.close(self.fd)

    # ------------------------------------------------------------ the sink

    def past(self) -> Past:
        """What stands here; go on after it."""
        words = [word for word in self._words if word]
        pages = [page for word in words if (page := self._page(word)) is not None]
        told = sorted(
            (page for page in pages if page.standing is Standing.TOLD), key=lambda page: page.event
        )
        held = sorted(page for page in pages if page.standing is not Standing.TOLD)
        settled = max(
            (page for page in told if page.done), key=lambda page: page.done, default=None
        )
        self._held = {_key(page.ticket): page.number for page in held}
        self._told = dict.fromkeys(page.number for page in told)
        self._settled = 0 if settled is None else settled.number
        self._last_number = max((word >> _NUMBER_SHIFT for word in words), default=0)
        self._last_event = told[-1].event if told else 0
        self._done = 0 if settled is None else settled.done
        begun = self._begun[0]
        return Past(
            start_id=begun ^ _HAS_BEGUN if begun & _HAS_BEGUN else None,
            done=self._done,
            settled=None if settled is None else _entry(settled),
            held=tuple(_entry(page) for page in held),
            unseen=tuple(entry for entry in self.unrecorded() if not self._is_taken(entry.number)),
            damaged=len(words) - len(pages),
        )

    def begin(self, start_id: int) -> None:
        """Keep after which trigger id the first life begins: one store."""
        self._begun[0] = start_id | _HAS_BEGUN

    def keep(self, standing: Standing, ticket: Ticket, sequence: int = 0) -> bool:
        """Keep how far a part is; False: the oldest event had to give way unseen."""
        number = self._held.get(_key(ticket))
        was_seen = True
        if number is None:
            number, was_seen = self._next()
        if standing is not Standing.TOLD:
            self._held[_key(ticket)] = number
            self._write(Page(number, 0, 0, sequence, standing, ticket))
            return was_seen
        self._held.pop(_key(ticket), None)
        self._done += 1
        self._tell(number, ticket, self._done, sequence)
        self._settled = number
        return was_seen

    def note(self, ticket: Ticket) -> bool:
        """Keep an event that is no part's verdict; answers as `keep`."""
        number, was_seen = self._next()
        self._tell(number, ticket, 0, 0)
        return was_seen

    # ------------------------------------------------------------ the record

    def find(self, ticket: Ticket) -> int | None:
        """The number under which an event stands here; None: not any more."""
        for place in np.flatnonzero(_copied(self._marks) == mark_of(ticket)):
            word = self._words[int(place)]
            if word & _STANDING == Standing.TOLD:
                return word >> _NUMBER_SHIFT
        return None

    def unrecorded(self) -> tuple[Entry, ...]:
        """Events that the record has not confirmed, in the order in which they were told."""
        words = _copied(self._words)
        is_open = _is_told(words) & ~self._is_committed(words)
        pages = [page for word in words[is_open] if (page := self._page(int(word))) is not None]
        return tuple(_entry(page) for page in sorted(pages, key=lambda page: page.event))

    def take(self, numbers: Sequence[int]) -> None:
        """The record holds these events in its memory."""
        self._answer(numbers, 0)

    def confirm(self, numbers: Sequence[int]) -> None:
        """The record has committed these events."""
        self._answer(numbers, _IS_COMMITTED)

    # ------------------------------------------------------------ inside

    def _answer(self, numbers: Sequence[int], bit: int) -> None:
        """Confirm entries that still stand where they stood."""
        for number in numbers:
            place = number % self._entries
            if self._words[place] >> _NUMBER_SHIFT == number:
                self._confirmed[place] = number << 1 | bit

    def _tell(self, number: int, ticket: Ticket, done: int, sequence: int) -> None:
        self._last_event += 1
        self._marks[number % self._entries] = mark_of(ticket)
        self._write(Page(number, self._last_event, done, sequence, Standing.TOLD, ticket))
        self._told[number] = None

    def _write(self, page: Page) -> None:
        """Write the page that does not count, then have it count."""
        place = page.number % self._entries
        side = ~self._words[place] & _SECOND_PAGE
        word = page.number << _NUMBER_SHIFT | side | page.standing
        text = encode(page)
        at = self._page_at(word)
        self._memory[at : at + len(text)] = text
        self._words[place] = word

    def _page(self, word: int) -> Page | None:
        """The page that a word speaks of; None: it is not whole, or another by now."""
        at = self._page_at(word)
        page = decode(self._memory[at : at + ENTRY_BYTES])
        if page is None or (page.number, page.standing) != (
            word >> _NUMBER_SHIFT,
            word & _STANDING,
        ):
            return None
        return page

    def _page_at(self, word: int) -> int:
        place = (word >> _NUMBER_SHIFT) % self._entries
        return self._pages_at + (2 * place + (word & _SECOND_PAGE > 0)) * ENTRY_BYTES

    def _next(self) -> tuple[int, bool]:
        """A number whose place is free, and whether it is so without a loss."""
        number, was_seen = self._last_number + 1, True
        word = self._words[number % self._entries]
        former = word >> _NUMBER_SHIFT
        if word and not self._is_free(word, former):
            number, was_seen = self._search(number)
            former = self._words[number % self._entries] >> _NUMBER_SHIFT
        self._told.pop(former, None)
        self._last_number = number
        return number, was_seen

    def _is_free(self, word: int, number: int) -> bool:
        """Whether an entry is needed by nobody: in the record, and not the part told last."""
        is_recorded = self._confirmed[number % self._entries] == number << 1 | _IS_COMMITTED
        return is_recorded and word & _STANDING == Standing.TOLD and number != self._settled

    def _search(self, number: int) -> tuple[int, bool]:
        """The next number with a free place; else the one over the event told first.

        Raises:
            ArenaFault: all entries hold parts not told yet: the ledger has a limit far below.
        """
        words = _copied(self._words)
        is_free = (words == 0) | (_is_told(words) & self._is_committed(words))
        if self._settled:
            is_free[self._settled % self._entries] = False
        free = np.flatnonzero(is_free)
        if free.size:
            return number + int(((free - number) % self._entries).min()), True
        oldest = next((told for told in self._told if told != self._settled), None)
        if oldest is None:
            raise ArenaFault(
                "the journal is full of parts not told yet", "report this with the log"
            )
        return number + (oldest - number) % self._entries, self._is_taken(oldest)

    def _is_taken(self, number: int) -> bool:
        return self._confirmed[number % self._entries] >> 1 == number

    def _is_committed(self, words: _Words) -> "npt.NDArray[np.bool_]":
        numbers = words >> np.uint64(_NUMBER_SHIFT)
        committed = numbers << np.uint64(1) | np.uint64(_IS_COMMITTED)
        answer: npt.NDArray[np.bool_] = _copied(self._confirmed) == committed
        return answer


def _key(ticket: Ticket) -> tuple[int, int]:
    """By what a part is known: ids begin anew when a PLC restarts, moments do not."""
    return ticket.trigger_id, ticket.stamps[Stamp.FIRED]


def _copied(table: "memoryview[int]") -> _Words:
    """A copy of a table: no view of the memory is left behind."""
    return np.frombuffer(table, np.uint64).copy()


def _is_told(words: _Words) -> "npt.NDArray[np.bool_]":
    answer: npt.NDArray[np.bool_] = words & np.uint64(_STANDING) == np.uint64(Standing.TOLD)
    return answer


def _entry(page: Page) -> Entry:
    return Entry(page.number, page.standing, page.ticket, page.sequence)


def _total_bytes(entries: int) -> int:
    size = _HEADER_BYTES + entries * (3 * 8 + 2 * ENTRY_BYTES)
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def _header(entries: int) -> bytes:
    return _HEADER.pack(_MAGIC, _VERSION, entries, ENTRY_BYTES)
