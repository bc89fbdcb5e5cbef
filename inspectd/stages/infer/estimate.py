"""How much of a card a line takes: memory and time, with the sums shown; pure.

Memory is the sum of what is known (parameters, activations alive at once, the limits that the
station file sets) and one assumption, the CUDA context. Time on a card is scaled from two planning
figures of one model by the arithmetic of another; time on the machine at hand is measured.
**No figure of a card here was measured by us.**
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from types import MappingProxyType

from inspectd.model.graph import Graph
from inspectd.stages.infer.routes import Precision

__all__ = [
    "BUSY_MAX",
    "CARDS",
    "IN_THE_POOL",
    "CardFigures",
    "Load",
    "ModelLoad",
    "Sum",
    "Time",
    "fitted",
    "load_of",
    "memory_of",
    "time_on",
]

_MEGABYTE = 1 << 20
_SHARE: Mapping[Precision, float] = MappingProxyType({"fp32": 1.0, "fp16": 0.5, "int8": 0.25})
"""Of the FP32 size of a number."""
IN_THE_POOL = frozenset({"parameters", "parameters, Paddle"})
"""Parts of a model's memory that Paddle's pool gives."""
BUSY_MAX = 0.8
"""Above, queues grow without end at the smallest disturbance."""
_CONVOLUTION_SCRATCH_MB = 512
"""Paddle's own limit for one convolution's scratch memory (`FLAGS_conv_workspace_size_limit`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFigures:
    """A card, as far as planning needs it."""

    name: str
    memory_mb: int
    """What a process can get of it."""
    context_mb: int
    """CUDA, cuDNN and Paddle's kernels before the first model: assumed."""
    reference: str
    """The model that the times are of."""
    reference_gflop: float
    """Of one frame."""
    base_ms: float
    """Of a run, before its first frame."""
    frame_ms: float
    """For each frame, at `reference_gflop`, fp16, TensorRT."""
    slower: Mapping[str, float]
    """Way and precision -> how many times `frame_ms`: assumed."""


CARDS: Mapping[str, CardFigures] = MappingProxyType(
    {
        "t4": CardFigures(
            name="NVIDIA T4 (16 GB, compute capability 7.5)",
            memory_mb=15_000,
            context_mb=600,
            reference="PP-YOLOE-s, 640 px, TensorRT fp16: 14 ms alone, 5 ms a frame in eights",
            reference_gflop=17.36,
            base_ms=10.3,
            frame_ms=3.7,
            slower=MappingProxyType(
                {
                    "tensorrt fp16": 1.0,
                    "tensorrt int8": 0.7,
                    "tensorrt fp32": 2.0,
                    "plain fp16": 1.6,
                    "plain fp32": 2.5,
                }
            ),
        )
    }
)
"""By name. 17.36 GFLOP: PaddleDetection's table of PP-YOLOE+ models. 14 and 5 ms: the project's
planning figures, a + b = 14 and (a + 8 b) / 8 = 5. The rest is assumed, and said so."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum with its parts named, MB."""

    parts: Mapping[str, float]

    @property
    def total(self) -> float:
        """Of all parts."""
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Time:
    """Milliseconds of a run: `base_ms + batch * frame_ms`."""

    base_ms: float
    frame_ms: float

    def run_ms(self, batch: int) -> float:
        """Of a run of so many frames."""
        return self.base_ms + batch * self.frame_ms

    def each_ms(self, batch: int) -> float:
        """Of one frame in such a run."""
        return self.run_ms(batch) / batch


@dataclass(frozen=True, slots=True)
class ModelLoad:
    """What one station asks of the engine."""

    station: str
    model: str
    pictures: int
    """For one part: its tiles, or 1."""
    cycle_ms: float
    budget_ms: float
    """For queueing and the model."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy an engine is with all stations."""

    busy: float
    """Share of its time, with batches as large as the planner makes them under load; 1: all."""
    shares: Mapping[str, float]
    """By station."""
    cycle_ms: float
    """Shortest cycle that all stations could have together."""
    wait_ms: Mapping[str, float]
    """By station: the longest run before its own, and its own."""

    @property
    def fits(self) -> bool:
        """Whether there is time enough, with a margin."""
        return self.busy <= BUSY_MAX

    @property
    def times(self) -> int:
        """So many times these stations would have time enough."""
        return floor(BUSY_MAX / self.busy) if self.busy > 0 else 0


def memory_of(
    graph: Graph, batch: int, precision: Precision, *, is_tensorrt: bool, limit_mb: int
) -> Sum:
    """What a model takes on a card beside the context, MB.

    Args:
        graph: its program, counted.
        batch: largest batch.
        precision: of the arithmetic.
        is_tensorrt: whether TensorRT runs it; Paddle's own FP32 parameters then stay beside its.
        limit_mb: of TensorRT's scratch memory (`workspace_mb`).
    """
    share = _SHARE[precision]
    parameters = graph.parameter_bytes / _MEGABYTE
    activations = graph.peak_of(batch) / _MEGABYTE
    if is_tensorrt:
        return Sum(
            {
                "parameters, Paddle": parameters,
                "parameters, engine": parameters * share,
                f"activations of {batch}": activations * share,
                "scratch, at most": float(limit_mb),
            }
        )
    return Sum(
        {
            "parameters": parameters * share,
            f"activations of {batch}": activations * share,
            "scratch, at most": float(_CONVOLUTION_SCRATCH_MB),
        }
    )


def time_on(card: CardFigures, graph: Graph, way: str, precision: Precision) -> Time:
    """Scale the card's reference by arithmetic; the base of a run is the same for every model.

    Args:
        card: with its reference.
        graph: the model's program, counted.
        way: `tensorrt` or `plain`.
        precision: of the arithmetic.
    """
    ratio = graph.operations / 1e9 / card.reference_gflop
    return Time(card.base_ms, card.frame_ms * ratio * card.slower[f"{way} {precision}"])


def fitted(measured: Mapping[int, float]) -> Time:
    """Lay a line through measured runs: batch -> ms; one alone has no base.

    Least squares; a base or a slope below 0, which noise can give, is taken as 0.
    """
    sizes = list(measured)
    if len(sizes) == 1:
        return Time(0.0, measured[sizes[0]] / sizes[0])
    mean_size = sum(sizes) / len(sizes)
    mean_ms = sum(measured.values()) / len(sizes)
    spread = sum((size - mean_size) ** 2 for size in sizes)
    slope = sum((size - mean_size) * (measured[size] - mean_ms) for size in sizes) / spread
    slope = max(slope, 0.0)
    return Time(max(mean_ms - slope * mean_size, 0.0), slope)


def load_of(
    stations: Sequence[ModelLoad], times: Mapping[str, Time], batch_max: Mapping[str, int]
) -> Load:
    """How busy the one engine process is.

    Args:
        stations: what each asks.
        times: by model.
        batch_max: by model.
    """
    each_ms = {
        one.station: one.pictures * times[one.model].each_ms(batch_max[one.model])
        for one in stations
    }
    wait_ms = {one.station: _wait_ms(one, stations, times, batch_max) for one in stations}
    shares = {one.station: each_ms[one.station] / one.cycle_ms for one in stations}
    return Load(
        busy=sum(shares.values()),
        shares=shares,
        cycle_ms=sum(each_ms.values()) / BUSY_MAX,
        wait_ms=wait_ms,
    )


def _wait_ms(
    one: ModelLoad,
    stations: Sequence[ModelLoad],
    times: Mapping[str, Time],
    batch_max: Mapping[str, int],
) -> float:
    """The longest run that may be under way when a part comes, and the run with it.

    A station that keeps its cycle has at most budget / cycle parts, rounded up, at the engine.
    """
    others: dict[str, int] = dict.fromkeys(times, 0)
    for each in stations:
        parts = ceil(each.budget_ms / each.cycle_ms) - (each is one)
        others[each.model] += parts * each.pictures
    foreign_ms = max(
        (
            times[name].run_ms(min(batch_max[name], count))
            for name, count in others.items()
            if count
        ),
        default=0.0,
    )
    largest = batch_max[one.model]
    full, rest = divmod(min(one.pictures + others[one.model], max(largest, one.pictures)), largest)
    own_ms = full * times[one.model].run_ms(largest)
    return foreign_ms + own_ms + (times[one.model].run_ms(rest) if rest else 0.0)
