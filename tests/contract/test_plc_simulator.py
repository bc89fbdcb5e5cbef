"""`inspectd plc-sim` as a process: what it fires, what it reports, how it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspectd.frame import Kind, Reason, Stamp, Verdict
from inspectd.plc.simulator import main
from inspectd.ports import Context
from inspectd.stages.sink.conversation import Conversation
from inspectd.stages.sink.manner import Manner
from inspectd.stages.sink.modbus import ModbusPeer
from inspectd.stages.sink.step import SinkStep
from inspectd.stages.sink.timing import Timing

MS = 1_000_000
TIMING = Timing(
    deadline_ns=2000 * MS,
    margin_ns=100 * MS,
    poll_ns=2 * MS,
    ack_poll_ns=2 * MS,
    heartbeat_ns=100 * MS,
    reconnect_ns=200 * MS,
    ack_timeout_ns=2000 * MS,
    tell_late_ns=10_000 * MS,
    plc_watchdog_ns=2000 * MS,
)


@contextmanager
def playing(*options: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """The simulator as a process, and its port."""
    ready, said = os.pipe()
    command = [sys.executable, "-m", "inspectd.plc.simulator", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--ready-fd", str(said), "--die-with-parent", *options],
        pass_fds=(said,),
        stdout=subprocess.DEVNULL,
    )
    os.close(said)
    try:
        with os.fdopen(ready) as line:
            yield process, int(line.readline())
    finally:
        process.kill()
        process.wait()


def sink_at(port: int, parts: int) -> SinkStep:
    """A real sink over a real wire, in real time."""
    context = Context(
        arenas={},
        clock=time.monotonic_ns,
        count=lambda _counter, _amount: None,
        log=lambda *_words, **_fields: None,
        is_ready=lambda _role, _station: True,
        is_line_healthy=lambda _station: True,
        part_limit=parts,
    )
    peer = ModbusPeer(
        "127.0.0.1",
        port,
        device_id=1,
        base_register=0,
        word_order="high_first",
        timeout_ms=200,
    )
    conversation = Conversation(
        peer,
        reconnect_ns=TIMING.reconnect_ns,
        ack_timeout_ns=TIMING.ack_timeout_ns,
        clock=context.clock,
        count=context.count,
        log=context.log,
    )
    manner = Manner(timing=TIMING, is_plc_triggered=True, recipe_digest=7)
    return SinkStep(0, manner, conversation, context)


def _exists(process: int) -> bool:
    """Whether a process runs (one that ended and waits to be reaped does not)."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def run_until_drained(step: SinkStep, limit_s: float = 30) -> list[float]:
    """Judge every fired part OK at once; answer milliseconds from trigger to confirmation."""
    sent: list[float] = []
    end = time.monotonic() + limit_s
    while not step.is_drained():
        assert time.monotonic() < end, "the sink did not finish"
        now_ns = time.monotonic_ns()
        wake_at_ns = step.wake_at_ns()
        if wake_at_ns is None or wake_at_ns > now_ns:
            time.sleep(0.0005)
            continue
        for out in step.wake(now_ns):
            if out.kind is Kind.FIRE:
                decided = out.ticket.decided(Verdict.OK, Reason.NONE, now_ns)
                step.feed(Kind.VERDICT, decided, now_ns)
            else:
                stamps = out.ticket.stamps
                sent.append((stamps[Stamp.SENT] - stamps[Stamp.FIRED]) / MS)
    return sent


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    "peculiarity",
    [(), ("--answer-delay-ms", "5"), ("--first-counter", str(2**32 - 5))],
    ids=["good", "slow", "wrapping"],
)
def test_twenty_triggers_give_twenty_verdicts_in_order(
    tmp_path: Path, peculiarity: tuple[str, ...]
) -> None:
    """The whole contract over a socket, and the PLC's own book about it."""
    report_path = tmp_path / "report.json"
    options = ("--rate-hz", "20", "--parts", "20", "--report", str(report_path))
    with playing(*options, *peculiarity) as (process, port):
        step = sink_at(port, 20)
        sent = run_until_drained(step)
        step.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    report = json.loads(report_path.read_text())
    assert len(sent) == 20
    assert report["fired"] == report["answered"] == 20
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert report[key] == []
    assert report["counts"] == {"OK": 20}
    assert list(tmp_path.iterdir()) == [report_path]


@pytest.mark.process
@pytest.mark.slow
def test_a_freeze_of_the_plc_costs_parts_but_no_order(tmp_path: Path) -> None:
    """Frozen for half a second: the sink gets over it, no verdict comes twice or backwards."""
    report_path = tmp_path / "report.json"
    options = ("--rate-hz", "20", "--parts", "30", "--report", str(report_path))
    freeze = ("--freeze-after", "0.6", "--freeze-for", "0.5")
    with playing(*options, *freeze) as (process, port):
        step = sink_at(port, 30)
        run_until_drained(step)
        step.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    report = json.loads(report_path.read_text())
    assert report["out_of_order"] == report["duplicates"] == report["missing"] == []


@pytest.mark.process
@pytest.mark.slow
def test_the_simulator_dies_with_its_parent() -> None:
    """--die-with-parent: nothing stays behind when the parent is killed."""
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'inspectd.plc.simulator', '--port', '0',"
        " '--die-with-parent', '--log'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent.stdout as said:
        child = int(said.readline())
        assert b"PLC simulator on" in said.readline()
        parent.kill()
        parent.wait()
        assert said.read() == b""  # ends when the child, which has the same pipe, has ended
    end = time.monotonic() + 5
    while _exists(child):
        assert time.monotonic() < end, "it outlived its parent"
        time.sleep(0.01)


def test_a_taken_port_is_one_sentence_and_exit_1(capfd: pytest.CaptureFixture[str]) -> None:
    """No traceback; the remedy is in the sentence."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["--port", str(taken.getsockname()[1])]) == 1
    assert "is in use; choose another --port, or end its owner" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--port", "70000"), ("--rate-hz", "0"), ("--base-register", "65500"), ("--scan-ms", "-1")],
)
def test_an_option_that_no_plc_has_is_named(
    option: str, value: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """One clear sentence with the range."""
    assert main([option, value]) == 1
    assert capfd.readouterr().err.startswith(f"{option}: got ")
