"""Tickets as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.bus import wire
from inspectd.errors import WireMismatch
from inspectd.frame import Kind, Reason, Stamp, Ticket, Verdict

_TOKEN = 0x0123456789ABCDEF
_ns = st.integers(0, 2**63 - 1)
_tickets = st.builds(
    Ticket,
    station=st.integers(-1, 1000),
    trigger_id=st.integers(0, 2**32 - 1),
    part_id=st.text(st.characters(codec="utf-8"), max_size=16),
    slot=st.integers(-1, 255),
    generation=st.integers(0, 2**56 - 1),
    deadline_ns=_ns,
    verdict=st.sampled_from(Verdict),
    judged=st.sampled_from(Verdict),
    reason=st.sampled_from(Reason),
    batch=st.integers(0, 64),
    stamps=st.tuples(*[_ns] * len(Stamp)),
    detail=st.binary(max_size=200),
)


@given(st.sampled_from(Kind), _tickets, st.integers(0, 2**64 - 1))
def test_a_ticket_comes_back_as_it_went(kind: Kind, ticket: Ticket, token: int) -> None:
    """Encoding loses nothing, for every kind and every token."""
    assert wire.decode(wire.encode(kind, ticket, token), token) == (kind, ticket)


@given(_tickets, st.data())
def test_a_message_cut_anywhere_is_refused(ticket: Ticket, data: st.DataObject) -> None:
    """Every truncation is a mismatch, never another error."""
    message = wire.encode(Kind.RAW, ticket, _TOKEN)
    with pytest.raises(WireMismatch):
        wire.decode(message[: data.draw(st.integers(0, len(message) - 1))], _TOKEN)


@given(_tickets, st.data())
def test_a_flipped_bit_gives_a_mismatch_or_a_ticket(ticket: Ticket, data: st.DataObject) -> None:
    """No damage of the header makes another error than a mismatch, or values of another type."""
    message = bytearray(wire.encode(Kind.RAW, ticket, _TOKEN))
    bit = data.draw(st.integers(0, 8 * wire.HEADER_BYTES - 1))
    message[bit // 8] ^= 1 << bit % 8
    try:
        kind, found = wire.decode(bytes(message), _TOKEN)
    except WireMismatch:
        return
    assert isinstance(kind, Kind)
    assert [type(value) for value in _values(found)] == [type(value) for value in _values(ticket)]


@given(st.binary(max_size=400))
def test_any_bytes_give_a_mismatch(message: bytes) -> None:
    """What a stranger sends is foreign."""
    with pytest.raises(WireMismatch):
        wire.decode(message, _TOKEN)


def test_a_message_of_another_run_is_refused_without_telling_a_token() -> None:
    """The token is what keeps strangers out: it stands in no message to people."""
    with pytest.raises(WireMismatch, match="token") as caught:
        wire.decode(wire.encode(Kind.FRAME, Ticket(0, 1), _TOKEN), _TOKEN + 1)
    assert str(_TOKEN) not in str(caught.value)


def test_a_long_part_id_is_cut_at_a_character() -> None:
    """64 bytes of UTF-8 at most, and no half character."""
    message = wire.encode(Kind.FRAME, Ticket(0, 1, part_id="x" + "é" * 40), _TOKEN)
    assert wire.decode(message, _TOKEN)[1].part_id == "x" + "é" * 31


def test_a_name_that_is_no_text_still_travels() -> None:
    """A file name with bytes outside UTF-8 (surrogates) is made readable."""
    message = wire.encode(Kind.FRAME, Ticket(0, 1, part_id="a\udcff"), _TOKEN)
    assert wire.decode(message, _TOKEN)[1].part_id == "a?"


def test_an_oversized_detail_is_replaced_by_a_note() -> None:
    """The verdict must not be held up by what is only for the record."""
    detail = b'"' + b"x" * wire.DETAIL_MAX_BYTES + b'"'
    message = wire.encode(Kind.VERDICT, Ticket(0, 1, detail=detail), _TOKEN)
    assert b"left out" in wire.decode(message, _TOKEN)[1].detail


def _values(ticket: Ticket) -> list[object]:
    return [getattr(ticket, name) for name in Ticket.__slots__]
