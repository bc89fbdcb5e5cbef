"""Rules between stations, models and the memory of one line; each a named function without I/O."""

import math
from collections.abc import Iterator

from inspectd.config.complaint import Complaint, repeated_names
from inspectd.config.schema import EtherNetIpPlc, Line, ModbusPlc, S7Plc, Station
from inspectd.config.shapes import plain

__all__ = [
    "BLOCK_REGISTERS",
    "MEGABYTE",
    "frame_bytes",
    "frames_fit_memory",
    "model_names_are_unique",
    "station_names_are_unique",
    "stations_know_their_model",
    "stations_share_no_data_block",
    "stations_share_no_registers",
    "stations_share_no_tags",
    "waiting_fits_the_budget",
]

BLOCK_REGISTERS = 64
"""Holding registers that one station occupies from its `base_register`."""
BLOCK_BYTES = 2 * BLOCK_REGISTERS
"""Bytes of a data block that one station occupies from its `start_byte`."""
MEGABYTE = 1024 * 1024
"""Bytes; the unit of `memory_max_mb`."""


def model_names_are_unique(line: Line) -> Iterator[Complaint]:
    """No two models have the same `name`."""
    yield from repeated_names("models", [model.name for model in line.models])


def station_names_are_unique(line: Line) -> Iterator[Complaint]:
    """No two stations have the same `name`."""
    yield from repeated_names("stations", [station.name for station in line.stations])


def stations_know_their_model(line: Line) -> Iterator[Complaint]:
    """`model` of a station is the name of an entry of `models`."""
    names = {model.name for model in line.models}
    for index, station in enumerate(line.stations):
        if station.model not in names:
            what = f"no entry of `models` has this name; known here: {', '.join(sorted(names))}"
            yield Complaint(f"stations[{index}].model", what)


def waiting_fits_the_budget(line: Line) -> Iterator[Complaint]:
    """`budget.infer_ms` of a station is not below `max_wait_ms` of its model."""
    wait_ms = {model.name: model.max_wait_ms for model in line.models}
    for index, station in enumerate(line.stations):
        if station.budget.infer_ms < wait_ms.get(station.model, 0.0):
            what = (
                f"model {station.model} lets a frame wait {plain(wait_ms[station.model])} ms "
                "(max_wait_ms) before it runs; raise it, or lower max_wait_ms"
            )
            yield Complaint(f"stations[{index}].budget.infer_ms", what)


def stations_share_no_registers(line: Line) -> Iterator[Complaint]:
    """Stations at the same `host` and `port` lie at least 64 registers apart.

    `device_id` does not tell them apart: many PLCs answer to any.
    """
    taken: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for index, station in enumerate(line.stations):
        plc = station.plc
        if not isinstance(plc, ModbusPlc) or plc.port == 0:
            continue
        blocks = taken.setdefault((plc.host.lower(), plc.port), [])
        for base, name in blocks:
            if abs(base - plc.base_register) < BLOCK_REGISTERS:
                what = (
                    f"overlaps the block of station {name} (from register {base}) in the same "
                    f"PLC; keep {BLOCK_REGISTERS} registers between their base_register"
                )
                yield Complaint(f"stations[{index}].plc.base_register", what)
        blocks.append((plc.base_register, station.name))


def stations_share_no_data_block(line: Line) -> Iterator[Complaint]:
    """Stations with the same S7 `host` and `db` lie at least 128 bytes apart."""
    taken: dict[tuple[str, int, int], list[tuple[int, str]]] = {}
    for index, station in enumerate(line.stations):
        plc = station.plc
        if not isinstance(plc, S7Plc):
            continue
        blocks = taken.setdefault((plc.host.lower(), plc.port, plc.db), [])
        for start, name in blocks:
            if abs(start - plc.start_byte) < BLOCK_BYTES:
                what = (
                    f"overlaps the bytes of station {name} (from byte {start}) in the same data "
                    f"block; keep {BLOCK_BYTES} bytes between their start_byte, or use another db"
                )
                yield Complaint(f"stations[{index}].plc.start_byte", what)
        blocks.append((plc.start_byte, station.name))


def stations_share_no_tags(line: Line) -> Iterator[Complaint]:
    """Stations with the same EtherNet/IP `host` and `slot` differ in `tag_prefix`."""
    taken: dict[tuple[str, int, int, str], str] = {}
    for index, station in enumerate(line.stations):
        plc = station.plc
        if not isinstance(plc, EtherNetIpPlc):
            continue
        place = (plc.host.lower(), plc.port, plc.slot, plc.tag_prefix.lower())
        if place in taken:
            what = f"the tags of station {taken[place]} in the same controller; choose another"
            yield Complaint(f"stations[{index}].plc.tag_prefix", what)
        taken[place] = station.name


def frames_fit_memory(line: Line) -> Iterator[Complaint]:
    """The pictures of all slots fit `memory_max_mb` (1 MB: 1024 x 1024 bytes).

    The tensors beside them depend on the model and are counted when it has been read.
    """
    needed = sum(frame_bytes(station) for station in line.stations)
    if needed > line.memory_max_mb * MEGABYTE:
        what = (
            f"the frames alone need {math.ceil(needed / MEGABYTE)} MB; raise it, or give the "
            "stations fewer slots"
        )
        yield Complaint("memory_max_mb", what)


def frame_bytes(station: Station) -> int:
    """Bytes that the pictures of all slots of a station need."""
    camera = station.camera
    return station.slots * camera.width_px * camera.height_px * camera.channels
