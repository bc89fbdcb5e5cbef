"""A whole line behind each fieldbus, from the camera to a real PLC in a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.contract.peers.peer import KINDS, Kind, Peer, playing
from tests.contract.peers.suite import until

ROOT = Path(__file__).parents[2]
PARTS = 12
PLCS = {
    "s7": "{kind: s7, host: 127.0.0.1, port: PORT, db: 7, start_byte: 4, timeout_ms: 300, "
    "heartbeat_ms: 300}",
    "ethernet_ip": "{kind: ethernet_ip, host: 127.0.0.1, port: PORT, timeout_ms: 300, "
    "heartbeat_ms: 300}",
}
FILE = """\
line: bottles
engine: {kind: scripted}
models:
  - {name: caps, path: MODEL}
record: {folder: FOLDER}
stations:
  - name: one
    cycle_ms: 200
    deadline_ms: 2000
    budget: {camera_ms: 300, gate_ms: 300, infer_ms: 300, judge_ms: 300, sink_ms: 300}
    trigger: {kind: plc, poll_ms: 5}
    camera: {kind: replay, path: IMAGES, width_px: 640, height_px: 640}
    slots: 12
    model: caps
    rules:
      - {kind: forbid, name: no_cap, labels: [Cap], min_score: 0.5}
    plc: PLC
"""

pytestmark = [pytest.mark.long, pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(params=[kind for kind in KINDS if kind.name in PLCS], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each fieldbus that has no simulator of its own."""
    kind: Kind = request.param
    reason = kind.missing()
    if reason:
        pytest.skip(reason)
    return kind


@contextmanager
def running(folder: Path, peer: Peer) -> Iterator[Path]:
    """A line that ends by itself when all parts are told; answers its report's path."""
    file, out = folder / "line.yaml", folder / "out.json"
    text = FILE
    for word, value in {
        "PLC": PLCS[peer.kind.name].replace("PORT", str(peer.port)),
        "FOLDER": str(folder),
        "MODEL": str(ROOT / "inspectd" / "models" / "bottle_cap"),
        "IMAGES": str(ROOT / "stations" / "demo_frames" / "images"),
    }.items():
        text = text.replace(word, value)
    file.write_text(text, encoding="utf-8")
    line = subprocess.Popen(
        [
            *(sys.executable, "-m", "inspectd", "run", str(file), "--quiet"),
            *("--parts", str(PARTS), "--report", str(out)),
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield out
        _, said = line.communicate(timeout=100)
        assert line.returncode == 0, said
    finally:
        line.kill()
        line.communicate()


def check_book(book: dict[str, Any]) -> None:
    """Every trigger has one verdict, in the order of the belt."""
    assert book["fired"] == book["answered"] == PARTS
    for key in ("missing", "duplicates", "out_of_order", "unknown"):
        assert book[key] == []
    assert [one["trigger_id"] for one in book["verdicts"]] == list(range(1, PARTS + 1))


def test_a_line_tells_every_part_to_its_plc_once_and_in_order(kind: Kind, tmp_path: Path) -> None:
    """The PLC's own book: all triggers answered, none twice, all as they were judged."""
    with playing(kind, "--parts", str(PARTS), "--rate-hz", "4") as peer:
        with running(tmp_path, peer) as out:
            pass
        book = peer.report()
    check_book(book)
    assert book["counts"] == {"OK": PARTS}, book["verdicts"]
    assert json.loads(out.read_text(encoding="utf-8"))


def test_a_line_gets_over_a_plc_that_freezes(kind: Kind, tmp_path: Path) -> None:
    """Frozen for a second in the middle: no verdict twice or backwards, none forgotten."""
    with playing(kind, "--parts", str(PARTS), "--rate-hz", "4") as peer:
        with running(tmp_path, peer):
            watcher = peer.client()
            watcher.connect()
            until(lambda: watcher.read_part().trigger_counter >= PARTS // 3, limit_s=60)
            watcher.close()
            with peer.frozen():
                time.sleep(1)
        check_book(peer.report())
