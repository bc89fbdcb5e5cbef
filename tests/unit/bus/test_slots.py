"""The life of a slot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.bus import slots
from inspectd.errors import ArenaFault
from inspectd.frame import Role

_OWNERS = tuple(slots.NEXT_OWNERS)
_generations = st.integers(0, slots.GENERATIONS - 1)


@given(st.sampled_from(_OWNERS), _generations)
def test_a_word_says_owner_and_generation(owner: Role, generation: int) -> None:
    """Packing loses nothing and fits 64 bits without a sign."""
    word = slots.pack(owner, generation)
    assert 0 <= word < 1 << 64
    assert slots.unpack(word) == (owner, generation)


def test_every_life_can_end() -> None:
    """From every owner a way leads back to NOBODY."""
    for owner, following in slots.NEXT_OWNERS.items():
        assert owner is Role.NOBODY or Role.NOBODY in following


def test_a_used_slot_is_not_loaned() -> None:
    """Only a free slot is given to the camera."""
    for owner in _OWNERS[1:]:
        assert slots.after_loan(slots.pack(owner, 7)) is None


def test_a_loan_counts_the_generation() -> None:
    """A new loan is a new generation, so that old tickets are stale."""
    assert slots.after_loan(slots.pack(Role.NOBODY, 7)) == slots.pack(Role.CAMERA, 8)


def test_the_generation_begins_again_after_its_last() -> None:
    """The count wraps without touching the owner."""
    last = slots.pack(Role.NOBODY, slots.GENERATIONS - 1)
    assert slots.after_loan(last) == slots.pack(Role.CAMERA, 0)


@pytest.mark.parametrize("owner", _OWNERS)
@pytest.mark.parametrize("to", list(Role))
def test_a_slot_is_handed_over_as_the_table_says(owner: Role, to: Role) -> None:
    """Every hand-over that the table does not know is a fault that names both."""
    word = slots.pack(owner, 3)
    is_known = owner is not Role.NOBODY and to is not Role.NOBODY
    if is_known and to in slots.NEXT_OWNERS[owner]:
        assert slots.after_hand_over(word, 3, owner, to) == slots.pack(to, 3)
    elif owner is Role.NOBODY and to is Role.CAMERA:
        assert slots.after_hand_over(word, 3, owner, to) is None
    else:
        with pytest.raises(ArenaFault, match=f"{owner.name} gives a slot to {to.name}"):
            slots.after_hand_over(word, 3, owner, to)


@given(st.sampled_from(_OWNERS), _generations, _generations)
def test_a_stale_ticket_moves_nothing(owner: Role, held: int, believed: int) -> None:
    """Another generation than the slot's neither releases nor hands over."""
    word = slots.pack(owner, held)
    is_real = held == believed and owner is not Role.NOBODY
    assert slots.is_held(word, believed, owner) is is_real
    assert (slots.after_release(word, believed, owner) is not None) is is_real


class _Model:
    """A few slots and the tickets that are about, driven at random."""

    def __init__(self, count: int) -> None:
        self.words = [slots.pack(Role.NOBODY, 0)] * count
        self.tickets: list[tuple[int, int, Role]] = []
        self.given: set[tuple[int, int]] = set()

    def loan(self) -> None:
        for slot, word in enumerate(self.words):
            after = slots.after_loan(word)
            if after is not None:
                self.words[slot] = after
                generation = slots.unpack(after)[1]
                assert (slot, generation) not in self.given
                self.given.add((slot, generation))
                self.tickets.append((slot, generation, Role.CAMERA))
                return
        assert all(slots.unpack(word)[0] is not Role.NOBODY for word in self.words)

    def move(self, pick: int, to: Role) -> None:
        """Use any ticket ever made, stale ones as well."""
        if not self.tickets:
            return
        slot, generation, owner = self.tickets[pick % len(self.tickets)]
        if to is Role.NOBODY:
            after = slots.after_release(self.words[slot], generation, owner)
        elif to in slots.NEXT_OWNERS[owner]:
            after = slots.after_hand_over(self.words[slot], generation, owner, to)
        else:
            return
        if after is not None:
            self.words[slot] = after
            if to is not Role.NOBODY:
                self.tickets.append((slot, generation, to))

    def die(self, role: Role) -> None:
        for slot, word in enumerate(self.words):
            after = slots.after_reclaim(word, role)
            if after is not None:
                self.words[slot] = after

    def check(self) -> None:
        """Of the tickets of one slot at most one is held: no slot is given twice."""
        for slot, word in enumerate(self.words):
            held = {t for t in self.tickets if t[0] == slot and slots.is_held(word, t[1], t[2])}
            assert len(held) == (slots.unpack(word)[0] is not Role.NOBODY)


_acts = st.lists(
    st.one_of(
        st.just(("loan", 0, Role.NOBODY)),
        st.tuples(st.just("move"), st.integers(0, 50), st.sampled_from(_OWNERS)),
        st.tuples(st.just("die"), st.just(0), st.sampled_from(_OWNERS[1:])),
    ),
    max_size=60,
)


@given(_acts)
def test_no_slot_is_lost_and_none_is_given_twice(acts: list[tuple[str, int, Role]]) -> None:
    """Whoever dies at whatever moment: each used slot has one holder, and all can be had again."""
    model = _Model(3)
    for act, number, role in acts:
        if act == "loan":
            model.loan()
        elif act == "move":
            model.move(number, role)
        else:
            model.die(role)
        model.check()
    for role in _OWNERS[1:]:
        model.die(role)
    assert all(slots.unpack(word)[0] is Role.NOBODY for word in model.words)
