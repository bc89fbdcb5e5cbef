"""Runs a line of scripted steps: `python -m tests.process.scripted_run FOLDER PARTS`.

FOLDER gets the verdicts. What `inspectd run` does, with the steps of the tests.
"""

import sys

from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    ForbidRule,
    Line,
    Model,
    Record,
    ReplayCamera,
    ScriptedEngine,
    Station,
    TimerTrigger,
)
from inspectd.host.log import make_log
from inspectd.host.supervisor import Plan, Supervisor
from tests.process.scripted_steps import STEPS


def scripted_line(folder: str) -> Line:
    """Make a line of one station that needs no files."""
    station = Station(
        name="one",
        cycle_ms=20,
        deadline_ms=400,
        budget=Budget(camera_ms=10, gate_ms=10, infer_ms=10, judge_ms=10, sink_ms=10),
        trigger=TimerTrigger(kind="timer", rate_hz=50),
        camera=ReplayCamera(kind="replay", path=folder, width_px=64, height_px=48),
        model="none",
        rules=(ForbidRule(kind="forbid", name="any", labels=("x",), min_score=0.5),),
        plc=AbsentPlc(kind="none"),
    )
    return Line(
        line="scripted",
        engine=ScriptedEngine(kind="scripted"),
        models=(Model(name="none", path=folder + "/none"),),
        stations=(station,),
        record=Record(folder=folder),
    )


if __name__ == "__main__":
    plan = Plan(part_limit=int(sys.argv[2]), steps=STEPS)
    log = make_log("supervisor", plan.run_id, "info")
    sys.exit(Supervisor(scripted_line(sys.argv[1]), plan, log).run().code)
