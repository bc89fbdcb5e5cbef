"""All measures that a station asks for, taken of one frame after the other."""

from collections.abc import Sequence

import numpy as np

from inspectd.config.schema import Frozen, Gate, Region
from inspectd.frame import Measure, Reason
from inspectd.ports import Pixels
from inspectd.stages.gate import measures
from inspectd.stages.gate.measures import Shape64, View

__all__ = ["Inspection", "first_broken"]


class Inspection:
    """Measures frames of one size. Remembers of the last one its fingerprint only."""

    def __init__(
        self, gate: Gate, frame_shape: tuple[int, ...], reference: Pixels | None = None
    ) -> None:
        """Make buffers.

        Args:
            gate: What is checked.
            frame_shape: (height, width) or (height, width, 3).
            reference: Grey (height, width); needed when `gate.presence` is given.
        """
        self._gate = gate
        self._grey = np.empty(frame_shape[:2], np.uint8)
        self._reference = _reference_shape(gate, reference)
        self._last: int | None = None
        self._repeats = 0

    def measure(self, frame: Pixels) -> tuple[Measure, ...]:
        """Take the measures: causes before what follows from them.

        A dark picture has little structure and a burnt-out one a bright mean, so the first broken
        measure names what is to be looked at: the camera, the light, reflections, the part, and
        last the lens.
        """
        views = _Views(measures.grey_of(frame, self._grey))
        gate = self._gate
        taken: list[Measure] = []
        if gate.frozen is not None:
            taken.append(self._frozen(frame, gate.frozen))
        if gate.exposure is not None:
            taken.append(measures.exposure(views.of(gate.exposure.region), gate.exposure))
        if gate.glare is not None:
            taken.append(measures.glare(views.of(gate.glare.region), gate.glare))
        if gate.saturation is not None:
            taken.append(measures.saturation(views.of(gate.saturation.region), gate.saturation))
        if gate.presence is not None and self._reference is not None:
            view = views.of(gate.presence.region)
            taken.append(measures.presence(view, gate.presence, self._reference))
        if gate.sharpness is not None:
            taken.append(measures.sharpness(views.of(gate.sharpness.region), gate.sharpness))
        return tuple(taken)

    def _frozen(self, frame: Pixels, check: Frozen) -> Measure:
        fingerprint = measures.fingerprint(frame)
        self._repeats = self._repeats + 1 if fingerprint == self._last else 0
        self._last = fingerprint
        return measures.frozen(self._repeats, check)


class _Views:
    """The regions of one grey picture, each made once."""

    def __init__(self, grey: Pixels) -> None:
        self._grey = grey
        self._made: dict[Region | None, View] = {}

    def of(self, region: Region | None) -> View:
        if region not in self._made:
            self._made[region] = measures.view_of(self._grey, region)
        return self._made[region]


def first_broken(taken: Sequence[Measure]) -> Measure | None:
    """Answer the first measure that broke its limit; None: the picture is fit."""
    return next((one for one in taken if one.reason is not Reason.NONE), None)


def _reference_shape(gate: Gate, reference: Pixels | None) -> Shape64 | None:
    if gate.presence is None:
        return None
    if reference is None:
        raise ValueError("the presence check needs its reference picture")
    return measures.shape_of(measures.view_of(reference, gate.presence.region))
