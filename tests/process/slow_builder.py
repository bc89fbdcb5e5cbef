"""An inference step whose engine is built first, slowly; and a line with it.

    python -m tests.process.slow_builder FOLDER PARTS

The cache, its stamp and its lock are the real ones; TensorRT is played by a sleep.
"""

import sys
import time
from pathlib import Path

from inspectd.config.schema import Line
from inspectd.host.log import make_log
from inspectd.host.supervisor import Plan, Supervisor
from inspectd.ports import Context, Step
from inspectd.stages.infer.building import have_ready
from inspectd.stages.infer.cache import Cache
from inspectd.stages.infer.stamp import Stamp
from tests.process import scripted_steps
from tests.process.scripted_run import scripted_line

__all__ = ["BUILD_S", "build_infer", "cache_of"]

BUILD_S = 3.0
NOW = Stamp(**dict.fromkeys(Stamp.__slots__, "as it is"))


def cache_of(folder: str) -> Cache:
    """Where the engine of a test's line is kept."""
    return Cache(Path(folder) / "engines" / "tensorrt-fp16")


def build_infer(line: Line, station: int, context: Context) -> Step:
    """Have the engine ready, then serve as the scripted step does."""
    cache = cache_of(line.record.folder)

    def work() -> None:
        (cache.folder / "trt_serialized_1").write_bytes(b"half")
        time.sleep(BUILD_S)
        (cache.folder / "trt_serialized_1").write_bytes(b"an engine")

    have_ready(cache, NOW, "rebuild", work, model="caps", tell=context.building, log=context.log)
    return scripted_steps.build_infer(line, station, context)


if __name__ == "__main__":
    steps = {**scripted_steps.STEPS, "infer": "tests.process.slow_builder:build_infer"}
    plan = Plan(part_limit=int(sys.argv[2]), steps=steps)
    log = make_log("supervisor", plan.run_id, "info")
    sys.exit(Supervisor(scripted_line(sys.argv[1]), plan, log).run().code)
