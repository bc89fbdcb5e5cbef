"""Slots that an owner was never told of."""

from inspectd.host.orphans import ORPHANED_AFTER_NS, Orphans, Place

_A, _B = Place(0, 1, 5), Place(0, 2, 9)


def test_a_slot_whose_ticket_came_is_no_orphan() -> None:
    """However long it is held."""
    orphans = Orphans()
    orphans.received(_A)
    assert orphans.sweep([_A], 0) == []
    assert orphans.sweep([_A], 10 * ORPHANED_AFTER_NS) == []


def test_a_slot_without_a_ticket_is_an_orphan_after_a_while() -> None:
    """Not at once: its ticket may be on the way."""
    orphans = Orphans()
    assert orphans.sweep([_A], 0) == []
    assert orphans.sweep([_A], ORPHANED_AFTER_NS - 1) == []
    assert orphans.sweep([_A], ORPHANED_AFTER_NS) == [_A]


def test_a_ticket_that_comes_late_saves_its_slot() -> None:
    """Suspicion ends when the ticket comes."""
    orphans = Orphans()
    orphans.sweep([_A], 0)
    orphans.received(_A)
    assert orphans.sweep([_A], ORPHANED_AFTER_NS) == []


def test_the_next_picture_in_the_slot_is_another_matter() -> None:
    """A suspicion belongs to one generation."""
    orphans = Orphans()
    orphans.sweep([_A], 0)
    later = Place(0, 1, 6)
    assert orphans.sweep([later], ORPHANED_AFTER_NS) == []


def test_what_is_no_longer_owned_is_forgotten() -> None:
    """Nothing piles up: given on, then owned again without a ticket, it is suspect again."""
    orphans = Orphans()
    orphans.received(_A)
    orphans.sweep([_B], 0)
    assert orphans.sweep([_A, _B], 1) == []
    assert orphans.sweep([_A, _B], 1 + ORPHANED_AFTER_NS) == [_A, _B]
