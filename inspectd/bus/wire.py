"""A ticket as bytes: one header of fixed layout, then the part's name, then the detail.

Little-endian. Every message carries the token of the run (64 random bits, known only to the
processes that inherited it), so that what a stranger injects, or what an earlier run left, is
recognised as foreign. Lengths are checked against the message before anything is read.
"""

import struct
from typing import NoReturn

from inspectd.errors import WireMismatch
from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict

__all__ = ["DETAIL_MAX_BYTES", "HEADER_BYTES", "PART_ID_MAX_BYTES", "VERSION", "decode", "encode"]

VERSION = 1
PART_ID_MAX_BYTES = 64
DETAIL_MAX_BYTES = 64 * 1024

_MAGIC = b"iNsp"
_HEAD = struct.Struct(f"<4sBBHQiIiQqBBHHBBI{len(Stamp)}q")
"""Magic, version, kind, header bytes, token, station, trigger id, slot, generation, deadline,
verdict, judged, reason, batch, number of stamps, bytes of part id, bytes of detail, stamps."""
HEADER_BYTES = _HEAD.size
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
    head = _HEAD.pack(
        _MAGIC,
        VERSION,
        kind,
        HEADER_BYTES,
        token,
        ticket.station,
        ticket.trigger_id,
        ticket.slot,
        ticket.generation,
        ticket.deadline_ns,
        ticket.verdict,
        ticket.judged,
        ticket.reason,
        min(ticket.batch, _BATCH_MAX),
        len(ticket.stamps),
        len(part_id),
        len(detail),
        *ticket.stamps,
    )
    return head + part_id + detail


def decode(message: bytes, token: int) -> tuple[Kind, Ticket]:
    """Read a message of this run.

    Raises:
        WireMismatch: it is not one: too short, of another run or version, or damaged.
    """
    if len(message) < HEADER_BYTES:
        raise WireMismatch("length", f"at least {HEADER_BYTES} bytes", len(message))
    (
        magic,
        version,
        kind,
        header_bytes,
        their_token,
        station,
        trigger_id,
        slot,
        generation,
        deadline_ns,
        verdict,
        judged,
        reason,
        batch,
        stamp_count,
        part_bytes,
        detail_bytes,
        *stamps,
    ) = _HEAD.unpack_from(message)
    _same("magic", _MAGIC, magic)
    _same("version", VERSION, version)
    _same("header length", HEADER_BYTES, header_bytes)
    if their_token != token:
        raise WireMismatch("token", "the one of this run", "another")  # never print a token
    _same("number of stamps", len(Stamp), stamp_count)
    _at_most("part id length", PART_ID_MAX_BYTES, part_bytes)
    _at_most("detail length", DETAIL_MAX_BYTES, detail_bytes)
    _same("length", HEADER_BYTES + part_bytes + detail_bytes, len(message))
    detail_at = HEADER_BYTES + part_bytes
    return _KINDS.get(kind) or _unknown("kind", kind), Ticket(
        station=station,
        trigger_id=trigger_id,
        part_id=_text(message[HEADER_BYTES:detail_at]),
        slot=slot,
        generation=generation,
        deadline_ns=deadline_ns,
        verdict=_VERDICTS[verdict] if verdict in _VERDICTS else _unknown("verdict", verdict),
        reason=_REASONS[reason] if reason in _REASONS else _unknown("reason", reason),
        batch=batch,
        stamps=tuple(stamps),
        detail=message[detail_at:],
        judged=_VERDICTS[judged] if judged in _VERDICTS else _unknown("judged", judged),
    )


_KINDS = {int(kind): kind for kind in Kind}
_VERDICTS = {int(verdict): verdict for verdict in Verdict}
_REASONS = {int(reason): reason for reason in Reason}


def _cut(part_id: str) -> bytes:
    """Encode a part's name; a longer one loses whole characters at its end."""
    text = part_id.encode(errors="replace")
    if len(text) <= PART_ID_MAX_BYTES:
        return text
    return text[:PART_ID_MAX_BYTES].decode(errors="ignore").encode()


def _text(part_id: bytes) -> str:
    try:
        return part_id.decode()
    except UnicodeDecodeError as error:
        raise WireMismatch("part id", "UTF-8", part_id) from error


def _same(field: str, ours: object, theirs: object) -> None:
    if ours != theirs:
        raise WireMismatch(field, ours, theirs)


def _at_most(field: str, ours: int, theirs: int) -> None:
    if theirs > ours:
        raise WireMismatch(field, f"at most {ours}", theirs)


def _unknown(field: str, theirs: int) -> NoReturn:
    raise WireMismatch(field, "a known number", theirs)
