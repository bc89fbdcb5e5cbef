"""What every `Io` promises; what the Modbus edge does with a difficult module."""

import importlib
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspectd.config.schema import (
    GpioEncoder,
    GpioIo,
    ModbusEncoder,
    ModbusIo,
    OutputReject,
    RejectConfirm,
    RejectEye,
)
from inspectd.errors import IoFault, UsageFault
from inspectd.plc.belt import Belt, plan_of
from inspectd.plc.io_module import IoModule
from inspectd.stages.reject.gpio_io import GpioModule
from inspectd.stages.reject.modbus_io import ModbusModule
from tests.contract.io_peer import Playing, playing

MS = 1_000_000
ENCODER = ModbusEncoder(kind="modbus", register=4, counts_per_mm=100)
IO = ModbusIo(kind="modbus", host="127.0.0.1", port=0, coil=21, watchdog_ms=200, timeout_ms=300)
REJECT = OutputReject(
    kind="output",
    distance_mm=250,
    belt_speed_mm_s=500,
    pulse_ms=80,
    lead_ms=10,
    io=replace(IO, watchdog_register=40),
    encoder=ENCODER,
    eye=RejectEye(input=3, distance_mm=1, window_mm=1),
    confirm=RejectConfirm(input=17, window_ms=200),
    reset_input=35,
)


def is_on(played: Playing) -> bool:
    """The output, looked at anew."""
    return played.belt.is_on


def module_at(played: Playing, reject: OutputReject) -> ModbusModule:
    """The edge, with the inputs of `REJECT`."""
    assert isinstance(reject.io, ModbusIo)
    encoder = reject.encoder if isinstance(reject.encoder, ModbusEncoder) else None
    return ModbusModule(reject.io, played.port, encoder, (3, 17, 35), time.monotonic_ns)


@pytest.fixture
def played() -> Iterator[Playing]:
    """The usual module."""
    with playing(REJECT) as one:
        yield one


@pytest.fixture
def io(played: Playing) -> Iterator[ModbusModule]:
    """The edge, connected to it."""
    made = module_at(played, REJECT)
    made.connect()
    yield made
    made.close()


def test_connecting_releases_the_output(played: Playing) -> None:
    """Before anything else, whatever an earlier life left."""
    played.belt.switch(time.monotonic_ns(), is_on=True)
    made = module_at(played, REJECT)
    made.connect()
    assert made.is_connected
    assert not is_on(played)
    made.close()


def test_the_output_follows_and_falls_at_the_end(played: Playing, io: ModbusModule) -> None:
    """Closing releases it; closing twice is fine."""
    io.switch(is_passing=True)
    assert is_on(played)
    io.close()
    assert not is_on(played)
    assert not io.is_connected
    io.close()


@pytest.mark.parametrize("table", ["input", "holding"])
@pytest.mark.parametrize(
    ("bits", "order"), [(16, "high_first"), (32, "high_first"), (32, "low_first")]
)
def test_the_counter_reads_as_it_is(table: str, bits: int, order: str) -> None:
    """Either table, width and word order; the middle of the request is its moment."""
    first = 0x0002FFFE % (1 << bits)
    encoder: Any = {"table": table, "bits": bits, "word_order": order}
    reject = replace(REJECT, encoder=replace(ENCODER, **encoder))
    with playing(reject, first) as played:
        made = module_at(played, reject)
        made.connect()
        sample = made.sample()
        made.close()
        assert sample.counted is not None
        assert (sample.counted - first) % (1 << bits) < 1_000_000
        assert 0 < sample.spread_ns < 300 * MS
        assert sample.counted_ns <= time.monotonic_ns()


def test_inputs_are_told_by_their_numbers(played: Playing, io: ModbusModule) -> None:
    """Across the words of the table."""
    assert io.sample().active == frozenset()
    played.module.active.update({17, 35, 36})
    assert io.sample().active == {17, 35}


def test_a_part_covers_the_eye(played: Playing, io: ModbusModule) -> None:
    """The belt's own inputs and the encoder belong together."""
    played.belt.speed_mm_s = 1.0
    played.call(lambda: played.belt.place(1, time.monotonic_ns()))
    until = time.monotonic() + 10
    while 3 not in io.sample().active:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_the_watchdog_releases_what_nobody_keeps(played: Playing, io: ModbusModule) -> None:
    """With a register of its own, other requests do not keep it quiet."""
    io.show_life()
    io.switch(is_passing=True)
    for _ in range(10):
        time.sleep(0.03)
        io.show_life()
    io.sample()
    assert is_on(played)
    time.sleep(0.3)
    io.sample()
    assert not is_on(played)


def test_an_old_write_that_comes_late_is_overwritten(played: Playing, io: ModbusModule) -> None:
    """With the next sign of life: a frozen module may do what an earlier life asked of it."""
    played.belt.switch(time.monotonic_ns(), is_on=True)
    io.show_life()
    assert not is_on(played)


def test_without_a_register_any_request_keeps_the_watchdog_quiet() -> None:
    """The sign of life tells the output again."""
    reject = replace(REJECT, io=IO)
    with playing(reject) as played:
        made = module_at(played, reject)
        made.connect()
        made.switch(is_passing=True)
        for _ in range(10):
            time.sleep(0.03)
            made.show_life()
        assert is_on(played)
        made.close()


def test_nobody_there_is_one_clear_fault() -> None:
    """Who, what, remedy."""
    io = ModbusModule(IO, 1, ENCODER, (), time.monotonic_ns)
    with pytest.raises(IoFault, match=r"127\.0\.0\.1:1: no connection; look at the module"):
        io.connect()
    assert not io.is_connected


def test_a_frozen_module_ends_the_connection_in_bounded_time(
    played: Playing, io: ModbusModule
) -> None:
    """And the next call can begin anew when it has thawed."""
    played.call(played.module.thawed.clear)
    begin = time.monotonic()
    with pytest.raises(IoFault, match="no answer to reading the discrete inputs 3 to 35"):
        io.sample()
    assert time.monotonic() - begin < 5
    assert not io.is_connected
    played.call(played.module.thawed.set)
    io.connect()
    assert io.sample().counted is not None


def test_an_address_that_the_module_does_not_have_is_named(played: Playing) -> None:
    """An error answer is no success."""
    wrong = replace(REJECT, io=replace(IO, coil=4000))
    made = module_at(played, wrong)
    with pytest.raises(IoFault, match="coil 4000: error answer 2; compare the addresses"):
        made.connect()
    made = module_at(played, replace(REJECT, encoder=replace(ENCODER, register=900)))
    made.connect()
    with pytest.raises(IoFault, match="counter at input register 900: error answer 2"):
        made.sample()
    assert not made.is_connected


def test_only_a_modbus_module_can_be_played() -> None:
    """The simulator has no GPIO lines."""
    io = GpioIo(kind="gpio", line=1, watchdog_line=2, watchdog_ms=100)
    with pytest.raises(UsageFault, match="no Modbus module to play"):
        IoModule(replace(REJECT, io=io), Belt(plan_of(REJECT), 0), time.monotonic_ns)


# ---------------------------------------------------------------- GPIO, as far as it goes here


def test_a_chip_that_is_not_there_is_one_clear_fault(tmp_path: Path) -> None:
    """Who, what, remedy."""
    pytest.importorskip("gpiod", reason="the extra `gpio` is not installed")
    io = GpioIo(kind="gpio", chip=str(tmp_path / "chip"), line=1, watchdog_line=2, watchdog_ms=100)
    encoder = GpioEncoder(kind="gpio", line=3, counts_per_mm=1)
    made = GpioModule(io, encoder, (4, 5), time.monotonic_ns)
    with pytest.raises(IoFault, match=r"its lines cannot be had .*; see `gpioinfo`"):
        made.connect()
    assert not made.is_connected
    made.close()


def test_the_words_of_libgpiod_are_those_that_are_used() -> None:
    """The settings are made with the installed package: a new name there would show."""
    pytest.importorskip("gpiod", reason="the extra `gpio` is not installed")
    io = GpioIo(kind="gpio", line=1, watchdog_line=2, watchdog_ms=100)
    encoder = GpioEncoder(kind="gpio", line=3, counts_per_mm=1)
    config = GpioModule(io, encoder, (4, 5), time.monotonic_ns)._config()
    assert set(config) == {(1, 2), (4, 5), 3}
    gpiod = importlib.import_module("gpiod")
    assert config[1, 2].output_value is gpiod.line.Value.INACTIVE
    for name in ("get_value", "set_value", "wait_edge_events", "read_edge_events", "release"):
        assert callable(getattr(gpiod.LineRequest, name))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the command."""
    monkeypatch.setitem(sys.modules, "gpiod", None)
    io = GpioIo(kind="gpio", line=1, watchdog_line=2, watchdog_ms=100)
    with pytest.raises(IoFault, match=r"pip install 'inspectd\[gpio\]'"):
        GpioModule(io, None, (), time.monotonic_ns)
