"""A ticket as bytes: one header of fixed layout, then the part's name, then the detail.

Little-endian. Every message carries the token of the run (64 random bits, known only to the
processes that inherited it), so that what a stranger injects, or what an earlier run left, is
recognised as foreign. Lengths are checked against the message before anything is read.
"""

import functools
import struct
from typing import NoReturn

from inspectd.errors import WireMismatch
from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict

__all__ = ["DETAIL_MAX_BYTES", "HEADER_BYTES", "PART_ID_MAX_BYTES", "VERSION", "decode", "encode"]

VERSION = 2
PART_ID_MAX_BYTES = 64
DETAIL_MAX_BYTES = 64 * 1024

_MAGIC = b"iNsp"
_FIRST = struct.Struct("<4sBBHQ")
"""Magic, version, number of stamps, header bytes, token: the same in every message of a run."""
_REST = struct.Struct("<QqiIiIBBBBHHH")
"""Generation, deadline, station, trigger id, slot, bytes of detail, kind, verdict, judged, bytes
of part id, reason, batch, recipe."""
_STAMPS = struct.Struct(f"<{len(Stamp)}q")
_STAMPS_AT = _FIRST.size + _REST.size
HEADER_BYTES = _STAMPS_AT + _STAMPS.size
_BATCH_MAX = 0xFFFF


def encode(kind: Kind, ticket: Ticket, token: int) -> bytes:
    """Write a message; a part id over 64 bytes is cut, an oversized detail replaced by a note."""
    part_id = _cut(ticket.part_id)
    detail = ticket.detail
    if len(detail) > DETAIL_MAX_BYTES:
        detail = b'{"error": "detail of %d bytes left out: the limit is %d"}' % (
            len(detail),
            DETAIL_MAX_BYTES,
        )
    rest = _REST.pack(
        ticket.generation,
        ticket.deadline_ns,
        ticket.station,
        ticket.trigger_id,
        ticket.slot,
        len(detail),
        kind,
        ticket.verdict,
        ticket.judged,
        len(part_id),
        ticket.reason,
        min(ticket.batch, _BATCH_MAX),
        ticket.recipe,
    )
    return b"".join((_first(token), rest, _STAMPS.pack(*ticket.stamps), part_id, detail))


def decode(message: bytes, token: int) -> tuple[Kind, Ticket]:
    """Read a message of this run.

    Raises:
        WireMismatch: it is not one: too short, of another run or version, or damaged.
    """
    if len(message) < HEADER_BYTES or not message.startswith(_first(token)):
        _refuse(message, token)
    (
        generation,
        deadline_ns,
        station,
        trigger_id,
        slot,
        detail_bytes,
        kind,
        verdict,
        judged,
        part_bytes,
        reason,
        batch,
        recipe,
    ) = _REST.unpack_from(message, _FIRST.size)
    detail_at = HEADER_BYTES + part_bytes
    if part_bytes > PART_ID_MAX_BYTES or detail_bytes > DETAIL_MAX_BYTES:
        raise WireMismatch("part", "lengths within the limits", (part_bytes, detail_bytes))
    if detail_at + detail_bytes != len(message):
        raise WireMismatch("length", detail_at + detail_bytes, len(message))
    try:
        return (
            _KINDS[kind],
            Ticket(  # in the order of the fields: names cost a third more time
                station,
                trigger_id,
                message[HEADER_BYTES:detail_at].decode(),
                slot,
                generation,
                deadline_ns,
                _VERDICTS[verdict],
                _REASONS[reason],
                batch,
                _STAMPS.unpack_from(message, _STAMPS_AT),
                message[detail_at:],
                _VERDICTS[judged],
                recipe,
            ),
        )
    except KeyError as error:
        raise WireMismatch("kind, verdict or reason", "a known number", error.args[0]) from error
    except UnicodeDecodeError as error:
        raise WireMismatch("part id", "UTF-8", error.object) from error


_KINDS = {int(kind): kind for kind in Kind}
_VERDICTS = {int(verdict): verdict for verdict in Verdict}
_REASONS = {int(reason): reason for reason in Reason}


def _cut(part_id: str) -> bytes:
    """Encode a part's name; a longer one loses whole characters at its end."""
    text = part_id.encode(errors="replace")
    if len(text) <= PART_ID_MAX_BYTES:
        return text
    return text[:PART_ID_MAX_BYTES].decode(errors="ignore").encode()


@functools.lru_cache(maxsize=8)
def _first(token: int) -> bytes:
    """What every message of a run begins with."""
    return _FIRST.pack(_MAGIC, VERSION, len(Stamp), HEADER_BYTES, token)


def _refuse(message: bytes, token: int) -> NoReturn:
    """Name the first field that is not ours; a token is never shown."""
    if len(message) < HEADER_BYTES:
        raise WireMismatch("length", f"at least {HEADER_BYTES} bytes", len(message))
    names = ("magic", "version", "number of stamps", "header length")
    ours, theirs = _FIRST.unpack(_first(token)), _FIRST.unpack_from(message)
    for name, our, their in zip(names, ours, theirs, strict=False):
        if our != their:
            raise WireMismatch(name, our, their)
    raise WireMismatch("token", "the one of this run", "another")
