"""A Logix controller: cpppo's EtherNet/IP simulator, its tags being the PLC program's memory."""

import os
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import cpppo
from cpppo.server.enip import device
from cpppo.server.enip.main import main as simulate

from inspectd.plc.registers import GROUPS, Group
from tests.contract.peers.memory import Served

__all__ = ["PREFIX", "SHORT_PREFIX", "WRONG_PREFIX", "serve"]

PREFIX, WRONG_PREFIX, SHORT_PREFIX = "Inspectd", "Wrong", "Short"

_tags: dict[str, Any] = {}


class _Tag(device.Attribute):  # type: ignore[misc]  # an untyped library
    """A tag that can be found by its name."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)
        _tags[name] = self


class Tags:
    """Arrays of DINT, one for each group; the interpreter's own lock makes an array whole."""

    def hold(self) -> AbstractContextManager[object]:
        """See `Memory.hold`: one slice is taken or put at a time."""
        return nullcontext()

    def read(self, group: Group) -> list[int]:
        """See `Memory.read`."""
        values = list(_tags[f"{PREFIX}_{group.name}"].value)
        words: list[int] = []
        for register, value in zip(group.registers, values, strict=True):
            raw = value.to_bytes(4, "big", signed=True)
            both = [int.from_bytes(raw[:2], "big"), int.from_bytes(raw[2:], "big")]
            words += both if register.words > 1 else both[1:]
        return words

    def write(self, group: Group, words: list[int], shift: int) -> None:
        """See `Memory.write`; a shift is one of elements here."""
        values = []
        for register in group.registers:
            raw = b"".join(word.to_bytes(2, "big") for word in words[: register.words])
            values.append(int.from_bytes(raw.rjust(4, b"\0"), "big", signed=True))
            words = words[register.words :]
        values = [0] * shift + values[: len(values) - shift]
        _tags[f"{PREFIX}_{group.name}"].value[:] = values


def serve(port: int) -> Served:
    """Listen, with tags as they should be, some of another type, and some that are too short."""
    made = [
        text
        for group in GROUPS
        for text in (
            f"{PREFIX}_{group.name}=DINT[{len(group.registers)}]",
            f"{WRONG_PREFIX}_{group.name}=INT[{len(group.registers)}]",
            f"{SHORT_PREFIX}_{group.name}=DINT[2]",
        )
    ]
    control = cpppo.dotdict({"done": False, "disable": False, "latency": 0.01, "timeout": 0.05})
    threading.Thread(
        target=simulate,
        kwargs={
            "argv": ["--no-print", "--no-udp", "-a", f"127.0.0.1:{port}", *made],
            "attribute_class": _Tag,
            "server": {"control": control},
        },
        daemon=True,
    ).start()
    end = time.monotonic() + 20
    while f"{SHORT_PREFIX}_{GROUPS[-1].name}" not in _tags:
        if time.monotonic() > end:
            raise RuntimeError("cpppo did not make its tags")
        time.sleep(0.02)
    return Served(Tags(), os.getpid())
