"""What the inputs say: the eye, the bin's sensor, bin full, air low, the reset key. Pure."""

from inspectd.config.schema import OutputReject
from inspectd.stages.reject.confirmation import Confirmation

__all__ = ["Inputs", "inputs_of"]

_NS_PER_MS = 1_000_000


class Inputs:
    """The inputs of one ejector; each may be absent (None)."""

    def __init__(
        self,
        *,
        blind_ns: int = 0,
        eye: int | None = None,
        bin_sensor: int | None = None,
        confirmation: Confirmation | None = None,
        bin_full: int | None = None,
        air_low: int | None = None,
        reset: int | None = None,
    ) -> None:
        """Nothing has been looked at.

        Args:
            blind_ns: What begins at the eye between two looks that are further apart has no place.
            eye: Number of the input; as the others.
            bin_sensor: The sensor of `confirmation`.
            confirmation: What is expected in the bin.
            bin_full: Active: the bin is full.
            air_low: Active: the air pressure is low.
            reset: Begins: the fault of `confirmation` is cleared.
        """
        self._blind_ns = blind_ns
        self._eye, self._bin_sensor, self._confirmation = eye, bin_sensor, confirmation
        self._bin_full, self._air_low, self._reset = bin_full, air_low, reset
        numbers = (eye, bin_sensor, bin_full, air_low, reset)
        self.numbers = tuple(number for number in numbers if number is not None)
        """Of the inputs that must be looked at."""
        self._active: frozenset[int] | None = None
        self._at_ns = 0

    def begin(self) -> None:
        """Nobody has looked for a while: what is active now may have begun at any time."""
        self._active = None
        if self._confirmation is not None:
            self._confirmation.forget()

    def look(self, active: frozenset[int], at_ns: int) -> int | None:
        """Take a look; answer when something began at the eye, None: nothing did.

        It began between two looks, so the middle is answered; nothing when they are too far apart.
        """
        before, before_ns = self._active, self._at_ns
        self._active, self._at_ns = active, at_ns
        if before is None:
            return None
        began = active - before
        if self._confirmation is not None:
            if self._reset in began:
                self._confirmation.reset()
            if self._bin_sensor in began:
                self._confirmation.see(at_ns)
        is_placed = self._eye in began and at_ns - before_ns <= self._blind_ns
        return (before_ns + at_ns) // 2 if is_placed else None

    def expect(self, at_ns: int) -> None:
        """A rejected part is at the ejector: it should turn up in the bin."""
        if self._confirmation is not None:
            self._confirmation.expect(at_ns)

    def missed(self, now_ns: int) -> int:
        """How many rejected parts have not turned up in time since the last question."""
        return 0 if self._confirmation is None else self._confirmation.missed(now_ns)

    def trouble(self) -> str:
        """Why no part may be triggered; empty when all is well."""
        active = self._active or frozenset()
        if self._confirmation is not None and self._confirmation.is_faulty:
            remedy = "start the line anew" if self._reset is None else "turn the reset key"
            return f"rejected parts do not arrive in the bin; look at the ejector, then {remedy}"
        if self._bin_full in active:
            return "the bin is full; empty it"
        if self._air_low in active:
            return "the air pressure is low; look at the supply"
        return ""


def inputs_of(reject: OutputReject) -> Inputs:
    """The inputs that the station file names."""
    confirm = reject.confirm
    confirmation = None
    if confirm is not None:
        confirmation = Confirmation(
            window_ns=int(confirm.window_ms * _NS_PER_MS),
            early_ns=int(reject.pulse_ms / 2 * _NS_PER_MS),
            unconfirmed_max=confirm.unconfirmed_max,
        )
    eye = reject.eye
    blind_ms = 0 if eye is None else eye.window_mm / reject.belt_speed_mm_s * 1000
    return Inputs(
        blind_ns=int(blind_ms * _NS_PER_MS),
        eye=None if eye is None else eye.input,
        bin_sensor=None if confirm is None else confirm.input,
        confirmation=confirmation,
        bin_full=reject.bin_full_input,
        air_low=reject.air_low_input,
        reset=reject.reset_input,
    )
