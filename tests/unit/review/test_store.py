"""Reviews are kept beside the record, and only ever added."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspectd.errors import UsageFault
from inspectd.record.database import FILE_NAME as EVENTS_NAME
from inspectd.record.history import History
from inspectd.review.judgement import Judgement
from inspectd.review.store import FILE_NAME, Reviews

Written = Callable[..., Path]
Part = Callable[..., Any]


def _say(
    folder: Path, sequence: int, judgement: Judgement, reviewer: str = "Li", **more: str
) -> int:
    with closing(History(folder / EVENTS_NAME)) as history:
        event = history.event(sequence)
        review = Reviews(folder).add(
            event, history.database_id, judgement, reviewer=reviewer, **more
        )
    return review.number


def test_the_last_review_counts_and_the_others_stay(record: Written, part: Part) -> None:
    """Whoever changes their mind, or another's, adds a review."""
    folder = record(part(1), part(2))
    _say(folder, 1, Judgement.CONFIRMED, "Li", note="scratch")
    _say(folder, 1, Judgement.FALSE_CALL, "Mei", note="dust")
    reviews = Reviews(folder / FILE_NAME)
    ((key, last),) = reviews.latest().items()
    assert (last.judgement, last.reviewer) == (Judgement.FALSE_CALL, "Mei")
    assert [(one.reviewer, one.note) for one in reviews.history(*key)] == [
        ("Li", "scratch"),
        ("Mei", "dust"),
    ]
    assert [one.number for one in reviews.trail(10)] == [2, 1]


def test_counts_are_of_events_by_their_last_review(record: Written, part: Part) -> None:
    """Within the time in which the events were recorded, the end left out."""
    folder = record(part(1), part(2), part(3, "OK"), part(4, "OK"), part(5))
    _say(folder, 1, Judgement.FALSE_CALL)
    _say(folder, 1, Judgement.CONFIRMED)
    _say(folder, 2, Judgement.FALSE_CALL)
    _say(folder, 3, Judgement.ESCAPE)
    _say(folder, 4, Judgement.CONFIRMED)
    reviews = Reviews(folder)
    counts = reviews.counts()
    assert (counts.rejects, counts.false_calls, counts.passes, counts.escapes) == (2, 1, 2, 1)
    assert (counts.false_call_rate, counts.escape_rate) == (0.5, 0.5)
    short = reviews.counts("2026-12-01T14:02:00.000000Z", "2026-12-01T14:03:00.000000Z")
    assert (short.rejects, short.passes, short.escape_rate) == (1, 0, None)
    assert reviews.counts(station="another").reviewed == 0


def test_nothing_is_made_by_reading(tmp_path: Path) -> None:
    """A line that nobody reviews has no file."""
    reviews = Reviews(tmp_path)
    assert (reviews.latest(), reviews.counts().reviewed, list(tmp_path.iterdir())) == ({}, 0, [])


@pytest.mark.parametrize("statement", ["DELETE FROM reviews", "UPDATE reviews SET reviewer = 'x'"])
def test_a_review_cannot_be_changed_or_deleted(record: Written, part: Part, statement: str) -> None:
    """Not even by hand with SQL."""
    folder = record(part(1))
    _say(folder, 1, Judgement.CONFIRMED)
    with (
        closing(sqlite3.connect(folder / FILE_NAME)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="add another"),
    ):
        connection.execute(statement)
    assert Reviews(folder).trail(9)[0].reviewer == "Li"


@pytest.mark.parametrize(
    ("verdict", "judgement", "reviewer", "note", "words"),
    [
        ("OK", Judgement.FALSE_CALL, "Li", "", "no false call"),
        ("NG", Judgement.ESCAPE, "Li", "", "no escape"),
        ("LATE", Judgement.ESCAPE, "Li", "", "no escape"),
        ("NG", Judgement.CONFIRMED, "  ", "", "name of a reviewer"),
        ("NG", Judgement.CONFIRMED, "x" * 65, "", "name of a reviewer"),
        ("NG", Judgement.CONFIRMED, "a\nb", "", "name of a reviewer"),
        ("NG", Judgement.CONFIRMED, "Li", "n" * 1001, "1001 characters"),
    ],
)
def test_what_cannot_be_said_is_refused(  # noqa: PLR0917 - one column each
    record: Written,
    part: Part,
    verdict: str,
    judgement: Judgement,
    reviewer: str,
    note: str,
    words: str,
) -> None:
    """A passed part is no false call, a rejected one no escape, and somebody must say it."""
    folder = record(part(1, verdict))
    with pytest.raises(UsageFault, match=words):
        _say(folder, 1, judgement, reviewer, note=note)
    assert Reviews(folder).trail(9) == []


def test_an_event_that_is_not_there_cannot_be_reviewed(record: Written, part: Part) -> None:
    """Strays neither: the PLC was told nothing of them."""
    folder = record(part(1, "NONE"))
    for sequence in (1, 99):
        with pytest.raises(UsageFault, match=f"no event {sequence}"):
            _say(folder, sequence, Judgement.CONFIRMED)


@pytest.mark.parametrize("content", [b"no database at all" * 100, None])
def test_a_foreign_file_is_refused_and_left_alone(
    record: Written, part: Part, content: bytes | None
) -> None:
    """Whether it is no database, or one of a later version."""
    folder = record(part(1))
    path = folder / FILE_NAME
    if content is None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 7")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    for call in (lambda: Reviews(folder).latest(), lambda: _say(folder, 1, Judgement.CONFIRMED)):
        with pytest.raises(UsageFault, match=FILE_NAME):
            call()
    assert path.read_bytes() == before


_WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from inspectd.record.history import History
from inspectd.review.judgement import Judgement
from inspectd.review.store import Reviews
folder, who, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with closing(History(folder / "events.sqlite")) as history:
    event = history.event(1)
    for turn in range(times):
        made = Reviews(folder).add(event, history.database_id, Judgement.CONFIRMED, reviewer=who)
        print(made.number, flush=True)
"""


def _writer(folder: Path, who: str, times: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _WRITER, str(folder), who, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(record: Written, part: Part) -> None:
    """They begin the file together, too."""
    folder = record(part(1))
    writers = [_writer(folder, who, 20) for who in ("Li", "Mei", "Wang")]
    numbers = [number for writer in writers for number in writer.communicate(timeout=50)[0].split()]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert sorted(map(int, numbers)) == list(range(1, 61))
    assert len(Reviews(folder).trail(100)) == 60


@pytest.mark.slow
def test_what_was_answered_is_there_after_a_kill(record: Written, part: Part) -> None:
    """Nothing half is: the next one goes on with the next number."""
    folder = record(part(1))
    writer = _writer(folder, "Li", 10_000)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(15)]
    os.kill(writer.pid, signal.SIGKILL)
    rest = writer.communicate(timeout=20)[0].split()
    last = int(rest[-1]) if rest else told[-1]
    kept = [review.number for review in Reviews(folder).trail(20_000)]
    assert kept[-1] == 1
    assert kept[0] in {last, last + 1}
    assert _say(folder, 1, Judgement.FALSE_CALL) == kept[0] + 1
