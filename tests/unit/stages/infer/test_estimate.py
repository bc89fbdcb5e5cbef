"""The plan's sums are right, and err on the safe side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspectd.model.graph import Graph
from inspectd.stages.infer.estimate import (
    BUSY_MAX,
    CARDS,
    ModelLoad,
    Time,
    fitted,
    load_of,
    memory_of,
    time_on,
)

MB = 1 << 20
GRAPH = Graph(
    parameter_bytes=40 * MB,
    parameters=10 * MB,
    peak_bytes=10 * MB,
    total_bytes=100 * MB,
    operations=int(17.36e9),
    operators={},
    unknown=0,
    is_quantised=False,
)
T4 = CARDS["t4"]
POSITIVE = st.floats(0.01, 1000)


def station(name: str, model: str = "a", pictures: int = 1, cycle_ms: float = 100) -> ModelLoad:
    """A station whose budget is one cycle."""
    return ModelLoad(name, model, pictures, cycle_ms, budget_ms=cycle_ms)


class TestMemory:
    """Of a model on a card."""

    def test_plain_kernels_in_fp32(self) -> None:
        """Parameters, what is alive at once for each frame, a convolution's scratch."""
        found = memory_of(GRAPH, 8, "fp32", is_tensorrt=False, limit_mb=1024)
        assert found.total == 40 + 8 * 10 + 512

    def test_tensorrt_in_fp16(self) -> None:
        """Paddle's parameters stay; the engine's and the activations are half as large."""
        found = memory_of(GRAPH, 8, "fp16", is_tensorrt=True, limit_mb=1024)
        assert found.total == 40 + 20 + 8 * 10 / 2 + 1024

    @given(st.integers(1, 63), st.sampled_from(["fp32", "fp16", "int8"]), st.booleans())
    def test_a_larger_batch_never_takes_less(
        self, batch: int, precision: str, is_tensorrt: bool
    ) -> None:
        """In any way and precision."""
        one, two = (
            memory_of(GRAPH, size, precision, is_tensorrt=is_tensorrt, limit_mb=64).total  # type: ignore[arg-type]
            for size in (batch, batch + 1)
        )
        assert one < two


class TestTime:
    """Of a run."""

    def test_the_reference_itself_takes_its_two_figures(self) -> None:
        """14 ms alone, 5 ms a frame in a batch of eight."""
        time = time_on(T4, GRAPH, "tensorrt", "fp16")
        assert time.run_ms(1) == pytest.approx(14, abs=0.05)
        assert time.each_ms(8) == pytest.approx(5, abs=0.05)

    @given(POSITIVE, POSITIVE)
    def test_a_line_through_runs_is_found_again(self, base_ms: float, frame_ms: float) -> None:
        """Exactly, where the runs lie on one."""
        time = Time(base_ms, frame_ms)
        found = fitted({size: time.run_ms(size) for size in (1, 4, 8)})
        assert found.base_ms == pytest.approx(base_ms, abs=1e-6)
        assert found.frame_ms == pytest.approx(frame_ms, abs=1e-6)

    @given(st.dictionaries(st.integers(1, 64), POSITIVE, min_size=1, max_size=4))
    def test_noise_gives_no_negative_times(self, measured: dict[int, float]) -> None:
        """A machine that others use is not regular."""
        time = fitted(measured)
        assert time.base_ms >= 0
        assert time.frame_ms >= 0


class TestLoad:
    """Of one engine process by all stations."""

    def test_one_station_that_keeps_its_cycle_waits_for_nobody(self) -> None:
        """Its own run alone; ten percent of the time."""
        load = load_of([station("one")], {"a": Time(6, 4)}, {"a": 1})
        assert load.busy == pytest.approx(0.10)
        assert load.wait_ms == {"one": 10}
        assert load.cycle_ms == pytest.approx(10 / BUSY_MAX)
        assert (load.fits, load.times) == (True, 8)

    def test_four_stations_of_one_model_share_its_batches(self) -> None:
        """A part waits for the run of the other three, then goes with them in one of four."""
        stations = [station(name) for name in "abcd"]
        load = load_of(stations, {"a": Time(6, 4)}, {"a": 4})
        assert load.busy == pytest.approx(4 * (6 + 16) / 4 / 100)
        assert load.wait_ms["a"] == (6 + 3 * 4) + (6 + 4 * 4)

    def test_tiles_go_in_as_many_runs_as_they_need(self) -> None:
        """Ten tiles by eights: a full run, and one of two."""
        load = load_of([station("one", pictures=10, cycle_ms=1000)], {"a": Time(6, 4)}, {"a": 8})
        assert load.wait_ms["one"] == (6 + 32) + (6 + 8)

    def test_too_much_does_not_fit(self) -> None:
        """Above 80 percent queues grow at the smallest disturbance."""
        load = load_of([station("one", cycle_ms=11)], {"a": Time(6, 4)}, {"a": 1})
        assert (load.fits, load.times) == (False, 0)

    @given(st.integers(1, 6), POSITIVE, POSITIVE, st.integers(1, 16))
    def test_another_station_never_makes_it_less_busy(
        self, count: int, base_ms: float, frame_ms: float, batch_max: int
    ) -> None:
        """Nor shortens anybody's wait."""
        stations = [station(f"s{at}") for at in range(count + 1)]
        times, sizes = {"a": Time(base_ms, frame_ms)}, {"a": batch_max}
        few, more = (load_of(stations[:number], times, sizes) for number in (count, count + 1))
        assert few.busy < more.busy
        assert few.wait_ms["s0"] <= more.wait_ms["s0"] + 1e-9
