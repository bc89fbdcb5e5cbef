"""How the ids of triggers follow each other: 16 or 32 bits wide, with or without 0. Pure."""

from dataclasses import dataclass

__all__ = ["GAP_MAX", "WIDE", "Ids"]

GAP_MAX = 256
"""A larger step of the ids, or one backwards, is no gap: the counter began anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """A counter that wraps."""

    bits: int = 32
    skips_zero: bool = False
    """After its largest value comes 1 instead of 0."""

    @property
    def limit(self) -> int:
        """The first number that it does not have."""
        return 1 << self.bits

    def ahead(self, first: int, then: int) -> int:
        """Steps from one id to another, 0 to one less than there are ids."""
        return (then - first) % self._count

    def before(self, key: int, steps: int) -> int:
        """The id so many steps before another."""
        if self.skips_zero:
            return (key - 1 - steps) % self._count + 1
        return (key - steps) % self._count

    def gap_before(self, last: int | None, key: int) -> tuple[int, bool]:
        """Ids that were passed over between the last one seen and this, and whether it is anew.

        Anew: `key` does not follow `last`, for the counter was set to another value. What it has
        counted since 0 counts as passed over then, if it is little enough.
        """
        if last is None:
            return 0, False
        ahead = self.ahead(last, key)
        if ahead <= GAP_MAX:
            return max(ahead - 1, 0), False
        return (max(key - 1, 0) if key <= GAP_MAX else 0), True

    def follows(self, last: int | None, key: int) -> bool:
        """Whether an id may be one of the next."""
        return last is None or 0 < self.ahead(last, key) <= GAP_MAX

    @property
    def _count(self) -> int:
        """How many ids there are.

        A counter that skips 0 stands there before its first step only, which is the same as
        standing at its largest value.
        """
        return self.limit - self.skips_zero


WIDE = Ids()
"""All numbers of 32 bits."""
