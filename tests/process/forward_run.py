"""A forwarder's process alone: `python -m tests.process.forward_run RECORD_FOLDER ENTRIES_JSON`.

The step in a loop as the host's, until SIGTERM; what it logs and says goes to stdout as JSON.
"""

import json
import signal
import sys
import time
from typing import Any

from inspectd.config.schema import (
    AbsentPlc,
    Budget,
    ForbidRule,
    Forward,
    Line,
    Model,
    MqttForward,
    PostgresqlForward,
    Record,
    ReplayCamera,
    ScriptedEngine,
    Station,
    TimerTrigger,
)
from inspectd.forward.step import build
from inspectd.frame import Role
from inspectd.ports import Context, Counter

_KINDS: dict[str, type[MqttForward | PostgresqlForward]] = {
    "mqtt": MqttForward,
    "postgresql": PostgresqlForward,
}


def line_of(folder: str, entries: list[dict[str, Any]]) -> Line:
    """A line on paper with these receivers."""
    station = Station(
        name="cam-1",
        cycle_ms=100,
        deadline_ms=50,
        budget=Budget(camera_ms=10, gate_ms=10, infer_ms=10, judge_ms=10, sink_ms=10),
        trigger=TimerTrigger(kind="timer", rate_hz=10),
        camera=ReplayCamera(kind="replay", path="/nowhere", width_px=64, height_px=48),
        model="bottles",
        rules=(ForbidRule(kind="forbid", name="none", labels=("Scratch",), min_score=0.5),),
        plc=AbsentPlc(kind="none"),
    )
    receivers: tuple[Forward, ...] = tuple(_KINDS[entry["kind"]](**entry) for entry in entries)
    return Line(
        line="line-1",
        engine=ScriptedEngine(kind="scripted"),
        models=(Model(name="bottles", path="/nowhere"),),
        stations=(station,),
        record=Record(folder=folder),
        forward=receivers,
    )


def say(what: str, **fields: Any) -> None:
    """One line of JSON."""
    print(json.dumps({"what": what, **fields}), flush=True)  # noqa: T201


def main(folder: str, entries: str) -> None:
    """Turn the loop."""
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    context = Context(
        arenas={},
        clock=time.monotonic_ns,
        count=lambda counter, number: say("count", name=Counter(counter).name, number=number),
        log=lambda level, event, **fields: say("log", level=level, event=event, **fields),
        is_ready=lambda role, station: bool(Role(role)),
        is_line_healthy=lambda station: True,
    )
    step = build(line_of(folder, json.loads(entries)), -1, context)
    trouble, is_stopping = "", False
    by = time.monotonic() + 1e9
    while not (is_stopping and (step.is_drained() or time.monotonic() > by)):
        step.wake(time.monotonic_ns())
        if step.trouble() != trouble:
            trouble = step.trouble()
            say("trouble", sentence=trouble)
        if told and not is_stopping:
            is_stopping, by = True, time.monotonic() + 5
            step.stop(time.monotonic_ns())
        time.sleep(0.02)
    is_drained = step.is_drained()
    step.close()
    say("end", is_drained=is_drained)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
