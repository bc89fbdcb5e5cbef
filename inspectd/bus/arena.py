"""EDGE (memfd): the frame memory of one station, shared by its processes.

    header | line of slot 0, 1, ... | raw directories | frames | tensors | raw outputs

The supervisor makes one anonymous memfd per station, and its children inherit the descriptor:
there is no name, so nothing is left when everything is killed. The size is sealed, and all pages
are there from the start, so that no access can end in SIGBUS.

Why no lock is needed. Each slot has one word (see `inspectd.bus.slots`), changed by one aligned
8-byte store, which no reader can see half done. And each change has a single writer: only the
camera loans (there is one camera process per arena), only the owner hands over or releases, and
the supervisor writes only for an owner that is dead and reaped, before its successor is started.
One exception: whoever handed a slot over may take it back while its message has not left, because
the new owner has not heard of it. The order of pixels and word does not matter to a reader, for it
learns of the slot by a message that goes through the kernel, and that is a memory barrier.

The race of reclaim and hand-over. While the supervisor takes back the slots of a dead GATE, the
camera may hand it another one. Then the scan has either seen the new word (slot reclaimed; the
ticket is stale, and the next gate drops it by its generation) or not (the slot is GATE's; the next
gate gets the ticket, or finds the slot without one and frees it, see `inspectd.host.orphans`). A
slot is never given twice, for only the camera loans, and only from NOBODY.
"""

import errno
import fcntl
import json
import math
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from inspectd.bus import slots as life
from inspectd.errors import ArenaFault
from inspectd.frame import Role
from inspectd.ports import Pixels, Tensor

__all__ = ["Geometry", "Held", "MemfdArena"]

_MAGIC = b"inspARNA"
_VERSION = 1
_HEADER = struct.Struct("<8sIIIIIIIIQ")
"""Magic, version, slots, frame height, width, channels (0: grey), tensor C, H, W, raw bytes."""
_HEADER_BYTES = 4096
_LINE_BYTES = 64
"""One cache line for each slot, so that owners do not disturb each other."""
_LINE_WORDS = _LINE_BYTES // 8
_WORD, _TRIGGER, _CAPTURED, _DIRECTORY = range(4)
"""Places in a slot's line, in 8-byte words: state, trigger id, capture time, directory length."""
_DIRECTORY_BYTES = 4096
"""For names, dtypes and shapes of the raw outputs, as JSON."""
_ALIGNMENT = 64
_SEALS = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class Geometry:
    """What the slots are made for; equal in every process that shares the arena."""

    slots: int
    frame_shape: tuple[int, ...]
    """(height, width) grey or (height, width, 3) blue, green, red; uint8."""
    tensor_shape: tuple[int, int, int]
    """(channels, height, width), float32."""
    raw_bytes: int
    """Room for the raw outputs of one frame, without alignment."""

    @property
    def frame_bytes(self) -> int:
        """Of one picture, rounded up to the alignment."""
        return _aligned(math.prod(self.frame_shape))

    @property
    def tensor_bytes(self) -> int:
        """Of one tensor, rounded up to the alignment."""
        return _aligned(4 * math.prod(self.tensor_shape))

    @property
    def raw_room_bytes(self) -> int:
        """Of the raw outputs of one frame, with room to align up to 16 of them."""
        return _aligned(self.raw_bytes) + 16 * _ALIGNMENT

    @property
    def total_bytes(self) -> int:
        """Of the whole arena, rounded up to pages."""
        per_slot = _LINE_BYTES + _DIRECTORY_BYTES
        per_slot += self.frame_bytes + self.tensor_bytes + self.raw_room_bytes
        return -(-(_HEADER_BYTES + self.slots * per_slot) // mmap.PAGESIZE) * mmap.PAGESIZE

    def header(self) -> bytes:
        """As it stands at the start of the arena."""
        height, width, *channels = self.frame_shape
        return _HEADER.pack(
            _MAGIC,
            _VERSION,
            self.slots,
            height,
            width,
            channels[0] if channels else 0,
            *self.tensor_shape,
            self.raw_bytes,
        )


class Held(NamedTuple):
    """A slot in use: what the supervisor needs to know of a part whose owner died."""

    slot: int
    generation: int
    trigger_id: int


_Form: TypeAlias = tuple[tuple[str, "np.dtype[Any]", tuple[int, ...]], ...]
"""Name, dtype and shape of each output of a frame."""


class _Laid(NamedTuple):
    """How the raw outputs last written into a slot lie there."""

    form: _Form
    views: list[npt.NDArray[Any]]
    directory_bytes: int


class MemfdArena:
    """Frame memory of one station; implements `inspectd.ports.Arena`.

    `frame` answers a writable picture to the camera alone; tensors are writable for everybody,
    since engines refuse to wrap read-only memory. Raw outputs are read-only views.
    """

    def __init__(self, fd: int, geometry: Geometry, role: Role) -> None:
        """Map the memory behind `fd`; use `create` or `attach`."""
        self.fd = fd
        self.geometry = geometry
        self._map = mmap.mmap(fd, geometry.total_bytes)
        self._memory = memoryview(self._map)
        count = geometry.slots
        lines_end = _HEADER_BYTES + count * _LINE_BYTES
        self._lines = self._memory[_HEADER_BYTES:lines_end].cast("Q")
        self._directories = lines_end
        frames = _aligned(lines_end + count * _DIRECTORY_BYTES)
        tensors = frames + count * geometry.frame_bytes
        self._raws = tensors + count * geometry.tensor_bytes
        self._frames = [
            self._view(frames + i * geometry.frame_bytes, np.uint8, geometry.frame_shape)
            for i in range(count)
        ]
        for frame in self._frames:
            frame.flags.writeable = role is Role.CAMERA
        self._laid: dict[int, _Laid] = {}
        self._tensors = [
            self._view(tensors + i * geometry.tensor_bytes, np.float32, geometry.tensor_shape)
            for i in range(count)
        ]

    @classmethod
    def create(cls, geometry: Geometry, name: str) -> "MemfdArena":
        """Make the memory, all of it at once; `name` shows in `/proc/PID/maps` only.

        Raises:
            ArenaFault: there is not enough memory.
        """
        fd = os.memfd_create(f"inspectd-{name}"[:200], os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.posix_fallocate(fd, 0, geometry.total_bytes)
            os.pwrite(fd, geometry.header(), 0)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
            return cls(fd, geometry, Role.SUPERVISOR)
        except OSError as error:
            os.close(fd)
            raise ArenaFault(
                f"{geometry.total_bytes / 1e6:.0f} MB for {name} cannot be had "
                f"({errno.errorcode.get(error.errno or 0, error)})",
                "lower `slots` of the station, take a smaller picture, or free memory",
            ) from error

    @classmethod
    def attach(cls, fd: int, geometry: Geometry, role: Role) -> "MemfdArena":
        """Use an inherited arena as `role`.

        Raises:
            ArenaFault: the memory is not an arena of this version with this geometry.
        """
        size = os.fstat(fd).st_size
        found = os.pread(fd, _HEADER.size, 0) if size >= _HEADER.size else b""
        if found != geometry.header() or size != geometry.total_bytes:
            raise ArenaFault(
                f"expected {geometry}, found {_describe(found)} in {size} bytes",
                "start the line anew: its processes are of different versions or files",
            )
        return cls(fd, geometry, role)

    def close(self) -> None:
        """Let go of the memory.

        Raises:
            BufferError: a view handed out is still in use; reading it later would be a crash.
        """
        self._frames.clear()
        self._tensors.clear()
        self._laid.clear()
        self._lines.release()
        self._memory.release()
        self._map.close()
        os.close(self.fd)

    # ------------------------------------------------------------ ownership

    def loan(self, trigger_id: int) -> tuple[int, int] | None:
        """Take a free slot for the camera: (slot, generation), or None when all are in use."""
        for slot in range(self.geometry.slots):
            word = life.after_loan(self._word(slot))
            if word is not None:
                base = slot * _LINE_WORDS
                self._lines[base + _TRIGGER] = trigger_id
                self._lines[base + _CAPTURED] = 0
                self._lines[base + _DIRECTORY] = 0
                self._lines[base + _WORD] = word
                return slot, life.unpack(word)[1]
        return None

    def holds(self, slot: int, generation: int, role: Role) -> bool:
        """Whether `role` owns the slot with the picture of `generation`; False for NO_SLOT."""
        return self._has(slot) and life.is_held(self._word(slot), generation, role)

    def hand_over(self, slot: int, generation: int, owner: Role, to: Role) -> bool:
        """Make `to` the owner; False when the slot is no longer `owner`'s."""
        if not self._has(slot):
            return False
        return self._store(slot, life.after_hand_over(self._word(slot), generation, owner, to))

    def release(self, slot: int, generation: int, owner: Role) -> bool:
        """Give the slot back; False when it is no longer `owner`'s."""
        if not self._has(slot):
            return False
        return self._store(slot, life.after_release(self._word(slot), generation, owner))

    def reclaim(self, dead: Role) -> list[Held]:
        """Free every slot of a process that is dead and reaped; for the supervisor alone."""
        held = self.owned(dead)
        for slot, _, _ in held:
            self._store(slot, life.after_reclaim(self._word(slot), dead))
        return held

    def owned(self, role: Role) -> list[Held]:
        """The slots of `role`, with the trigger that each was loaned for."""
        answer = []
        for slot in range(self.geometry.slots):
            owner, generation = life.unpack(self._word(slot))
            if owner is role:
                answer.append(Held(slot, generation, self._lines[slot * _LINE_WORDS + _TRIGGER]))
        return answer

    def note_captured(self, slot: int, captured_ns: int) -> None:
        """Keep when the picture was taken; written by the camera's process before it is sent."""
        self._lines[slot * _LINE_WORDS + _CAPTURED] = captured_ns

    def captured_ns(self, slot: int) -> int:
        """When the picture was taken, monotonic; 0: it was not."""
        return self._lines[slot * _LINE_WORDS + _CAPTURED]

    # ------------------------------------------------------------ contents

    def frame(self, slot: int) -> Pixels:
        """The picture, without a copy, in the shape of the station's camera."""
        return self._frames[slot]

    def tensor(self, slot: int) -> Tensor:
        """The model input, without a copy, in the shape the model asks for."""
        return self._tensors[slot]

    def write_raw(self, slot: int, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep the model's outputs for this frame; names, order, dtypes and shapes are kept.

        Raises:
            ArenaFault: they are larger than the slot was made for.
        """
        form = tuple((name, values.dtype, values.shape) for name, values in outputs.items())
        laid = self._laid.get(slot)
        if laid is None or laid.form != form:
            laid = self._laid[slot] = self._lay_out(slot, form, outputs)
        for view, values in zip(laid.views, outputs.values(), strict=True):
            view[...] = values
        self._lines[slot * _LINE_WORDS + _DIRECTORY] = laid.directory_bytes

    def read_raw(self, slot: int) -> dict[str, npt.NDArray[Any]]:
        """The model's outputs for this frame, read-only views without a copy; {} when none."""
        size = self._lines[slot * _LINE_WORDS + _DIRECTORY]
        if size == 0:
            return {}
        start = self._directories + slot * _DIRECTORY_BYTES
        base = self._raws + slot * self.geometry.raw_room_bytes
        answer = {}
        for name, dtype, shape, offset in json.loads(bytes(self._memory[start : start + size])):
            view = self._view(base + offset, np.dtype(dtype), tuple(shape))
            view.flags.writeable = False
            answer[name] = view
        return answer

    # ------------------------------------------------------------ inside

    def _has(self, slot: int) -> bool:
        return 0 <= slot < self.geometry.slots

    def _word(self, slot: int) -> int:
        return self._lines[slot * _LINE_WORDS + _WORD]

    def _store(self, slot: int, word: int | None) -> bool:
        """Change the state of a slot: one aligned store of eight bytes."""
        if word is None:
            return False
        self._lines[slot * _LINE_WORDS + _WORD] = word
        return True

    def _view(self, offset: int, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """Answer an array over the memory; it pins the map, so that `close` refuses."""
        count = math.prod(shape)
        if count == 0:
            return np.empty(shape, dtype)
        return np.frombuffer(self._memory, dtype, count, offset).reshape(shape)

    def _lay_out(self, slot: int, form: _Form, outputs: Mapping[str, npt.NDArray[Any]]) -> "_Laid":
        """Give outputs of this form their places in the slot, and write its directory.

        A model's outputs mostly have the same form for every frame: then this is done once a slot.
        """
        base = self._raws + slot * self.geometry.raw_room_bytes
        entries, views, end = [], [], 0
        for name, dtype, shape in form:
            offset = _aligned(end)
            end = offset + dtype.itemsize * math.prod(shape)
            if end > self.geometry.raw_room_bytes:
                self._refuse_raw(outputs)
            entries.append((name, dtype.str, shape, offset))
            views.append(self._view(base + offset, dtype, shape))
        text = json.dumps(entries).encode()
        if len(text) > _DIRECTORY_BYTES:
            self._refuse_raw(outputs)
        start = self._directories + slot * _DIRECTORY_BYTES
        self._memory[start : start + len(text)] = text
        return _Laid(form, views, len(text))

    def _refuse_raw(self, outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        sizes = ", ".join(f"{name} {v.dtype} {v.shape}" for name, v in outputs.items())
        total = sum(v.nbytes for v in outputs.values())
        raise ArenaFault(
            f"raw outputs of {total} bytes ({sizes}) where {self.geometry.raw_bytes} fit",
            "the model gives more than its directory says: look at its golden outputs",
        )


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _describe(header: bytes) -> str:
    """Say what stands in a header that is not the expected one."""
    if len(header) < _HEADER.size or header[:8] != _MAGIC:
        return "no arena"
    _, version, count, height, width, channels, *rest = _HEADER.unpack(header)
    return (
        f"version {version}, {count} slots of {height}x{width}x{channels or 1}, "
        f"tensor {tuple(rest[:3])}, raw {rest[3]} bytes"
    )
