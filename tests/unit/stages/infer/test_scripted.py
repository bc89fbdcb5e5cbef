"""How long a scripted run takes."""

import pytest

from inspectd.config.schema import ScriptedEngine
from inspectd.stages.infer.scripted import run_ms


@pytest.mark.parametrize(
    ("table", "batch", "wanted_ms"),
    [
        ((14, 18, 22), 1, 14),
        ((14, 18, 22), 3, 22),
        ((14, 18, 22), 5, 30),  # the last step goes on
        ((14, 12), 3, 12),  # noise of a measurement never makes a longer run shorter
        ((14,), 3, 42),
        ((), 3, 4 + 3 * 2),
    ],
)
def test_a_run_takes_what_the_table_says(
    table: tuple[float, ...], batch: int, wanted_ms: float
) -> None:
    """A table of measured runs, or a base and a slope where there is none."""
    engine = ScriptedEngine(kind="scripted", base_ms=4, per_frame_ms=2, runs_ms=table)
    assert run_ms(engine, batch) == wanted_ms
