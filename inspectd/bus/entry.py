"""An entry of the sink's journal as bytes: a part, how far it is, and a sum that proves both.

    number | event | done | length | sum | sequence | standing | form | ticket as `wire` bytes

Pure. A detail that does not fit is deflated; one that does not fit even so gives way to a note of
its length, for an entry is the copy that is read after a death: the message has all of it.
"""

import struct
import zlib
from dataclasses import replace
from typing import NamedTuple

from inspectd.bus import wire
from inspectd.errors import WireMismatch
from inspectd.frame import Kind, Stamp, Ticket
from inspectd.ports import Standing

__all__ = ["ENTRY_BYTES", "Page", "decode", "encode", "mark_of"]

ENTRY_BYTES = 2048
"""A ticket has some 200 bytes, the detail of a part with a few detections some 500."""
_HEADER = struct.Struct("<QQQIIHBB")
_SUM = struct.Struct("<I")
_SUM_AT = 28
_TOKEN = 0
"""Entries are reached by descriptor only; there is no stranger to tell from us."""
_PLAIN, _DEFLATED = 0, 1
_LEVEL = 1
"""Of zlib: some 20 us for 2 KB, for this is on the way of a verdict."""
_MARK = struct.Struct(f"<qBBH{len(Stamp)}q")


class Page(NamedTuple):
    """What stands in an entry."""

    number: int
    """Counts the entries of a journal, in the order of their opening."""
    event: int
    """Counts what was told to the record; 0: it was not yet."""
    done: int
    """Parts told up to this one; 0: it is none, or not told yet."""
    sequence: int
    """Word of the verdict block under which it leaves; 0: it does not."""
    standing: Standing
    ticket: Ticket


def encode(page: Page) -> bytes:
    """Write a page, at most `ENTRY_BYTES`; it ends where the ticket ends."""
    form, body = _body(page.ticket)
    fields = (page.number, page.event, page.done, len(body), 0, page.sequence)
    text = bytearray(_HEADER.pack(*fields, page.standing, form) + body)
    _SUM.pack_into(text, _SUM_AT, zlib.crc32(text))
    return bytes(text)


def decode(memory: "bytes | memoryview") -> Page | None:
    """Read a page; None: it is not one, or not a whole one."""
    number, event, done, length, total, sequence, standing, form = _HEADER.unpack_from(memory)
    if length > ENTRY_BYTES - _HEADER.size:
        return None
    text = bytearray(memory[: _HEADER.size + length])
    _SUM.pack_into(text, _SUM_AT, 0)
    if zlib.crc32(text) != total:
        return None
    try:
        _, ticket = wire.decode(bytes(text[_HEADER.size :]), _TOKEN)
        if form == _DEFLATED:
            ticket = replace(ticket, detail=zlib.decompress(ticket.detail))
        return Page(number, event, done, sequence, Standing(standing), ticket)
    except (WireMismatch, ValueError, zlib.error):
        return None


def mark_of(ticket: Ticket) -> int:
    """Sixty-four bits by which an event is known again, with or without its picture."""
    fields = (ticket.deadline_ns, ticket.verdict, ticket.judged, ticket.reason, *ticket.stamps)
    return zlib.crc32(_MARK.pack(*fields)) << 32 | ticket.trigger_id


def _body(ticket: Ticket) -> tuple[int, bytes]:
    """The ticket as it fits, and in which form its detail is."""
    room = ENTRY_BYTES - _HEADER.size
    body = wire.encode(Kind.EVENT, ticket, _TOKEN)
    if len(body) <= room:
        return _PLAIN, body
    small = replace(ticket, detail=zlib.compress(ticket.detail, _LEVEL))
    body = wire.encode(Kind.EVENT, small, _TOKEN)
    if len(body) <= room:
        return _DEFLATED, body
    note = b'{"detail_left_out_bytes": %d}' % len(ticket.detail)
    return _PLAIN, wire.encode(Kind.EVENT, replace(ticket, detail=note), _TOKEN)
