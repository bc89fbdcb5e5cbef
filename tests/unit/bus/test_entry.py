"""Entries of the journal as bytes."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from inspectd.bus.entry import ENTRY_BYTES, Page, decode, encode, mark_of
from inspectd.frame import NO_SLOT, Reason, Stamp, Ticket, Verdict
from inspectd.ports import Standing

_TICKETS = st.builds(
    Ticket,
    station=st.integers(0, 15),
    trigger_id=st.integers(0, 2**32 - 1),
    part_id=st.text(max_size=12),
    slot=st.integers(-1, 255),
    generation=st.integers(0, 2**56 - 1),
    deadline_ns=st.integers(0, 2**62),
    verdict=st.sampled_from(Verdict),
    reason=st.sampled_from(Reason),
    batch=st.integers(0, 64),
    stamps=st.tuples(*[st.integers(0, 2**62)] * len(Stamp)),
    detail=st.binary(max_size=600),
    judged=st.sampled_from(Verdict),
)
_PAGES = st.builds(
    Page,
    number=st.integers(1, 2**56 - 1),
    event=st.integers(0, 2**60),
    done=st.integers(0, 2**60),
    sequence=st.integers(0, 65535),
    standing=st.sampled_from(Standing),
    ticket=_TICKETS,
)


@given(_PAGES)
def test_a_page_comes_back_as_it_was(page: Page) -> None:
    """Every field, and the ticket with its slot."""
    text = encode(page)
    assert len(text) <= ENTRY_BYTES
    assert decode(text + b"\xff" * (ENTRY_BYTES - len(text))) == page


@given(_PAGES, st.data())
def test_a_torn_page_is_recognised(page: Page, data: st.DataObject) -> None:
    """Cut anywhere and gone on with something else, it is the page as it was or none at all."""
    text = encode(page)
    cut = data.draw(st.integers(0, len(text)))
    other = encode(data.draw(_PAGES))
    torn = text[:cut] + other[cut:] + bytes(ENTRY_BYTES)
    assert decode(torn[:ENTRY_BYTES]) in {None, page, decode(other + bytes(ENTRY_BYTES))}


@given(st.integers(0, 60_000), st.booleans())
def test_a_long_detail_is_deflated_or_gives_way_to_a_note(size: int, is_random: bool) -> None:
    """JSON of several kilobytes comes back whole; what cannot fit says how long it was."""
    text = (
        "".join(chr(97 + (i * i * 7919 + i // 3) % 26) for i in range(size))
        if is_random
        else "a" * size
    )
    ticket = Ticket(0, 1, detail=json.dumps({"image": text}).encode())
    page = decode(encode(Page(1, 1, 1, 0, Standing.TOLD, ticket)).ljust(ENTRY_BYTES, b"\0"))
    assert page is not None
    note = {"detail_left_out_bytes": len(ticket.detail)}
    assert page.ticket == ticket or json.loads(page.ticket.detail) == note
    if len(ticket.detail) < 1500 or not is_random:
        assert page.ticket == ticket


@given(_TICKETS)
def test_the_mark_does_not_depend_on_the_picture(ticket: Ticket) -> None:
    """The message has it, or had to let it go."""
    assert mark_of(ticket) == mark_of(replace(ticket, slot=NO_SLOT, generation=0))
    assert mark_of(ticket) != mark_of(ticket.stamped(Stamp.SENT, ticket.stamps[Stamp.SENT] ^ 1))
