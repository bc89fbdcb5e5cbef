"""`docs/record.md` is kept honest: its questions run, its keys and columns are those there are."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspectd.record.report import build_report
from inspectd.stages.judge.rules import evaluate

MANUAL = (Path(__file__).parents[3] / "docs" / "record.md").read_text()
QUESTIONS = re.findall(r"```sql\n(.*?)```", MANUAL, re.DOTALL)
BROKEN = b'{"broken":[["cap_on","1 of 1 object of Bottle without Cap",1]]}'


def named(text: str) -> bool:
    """Whether the manual speaks of it."""
    return f"`{text}`" in MANUAL


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_of_the_manual_can_be_asked(desk: Any, question: str) -> None:
    """SQLite understands it."""
    with closing(sqlite3.connect(desk.recorded(desk.ticket(1)))) as connection:
        connection.execute(question)


def test_the_questions_give_the_answers_they_promise(desk: Any) -> None:
    """Yield by hour, and rules by name."""
    path = desk.recorded(desk.ticket(1, detail=BROKEN), desk.ticket(2, detail=BROKEN))
    with closing(sqlite3.connect(path)) as connection:
        hours = connection.execute(QUESTIONS[0]).fetchall()
        rules = connection.execute(QUESTIONS[2]).fetchall()
    assert hours == [("2026-12-01T14", "cam-1", 2, 0.0)]
    assert rules == [("cap_on", 2)]


def test_every_column_is_in_the_manual(desk: Any) -> None:
    """Stamps are named by the first and the last of them."""
    with closing(sqlite3.connect(desk.recorded())) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_xinfo(events)")]
    stamps = {name for name in columns if name.endswith("_ns")} - {"deadline_ns", "epoch_ns"}
    assert [name for name in columns if name not in stamps and not named(name)] == []


def test_every_key_of_the_report_is_in_the_manual(desk: Any) -> None:
    """Of the whole, and of a station."""
    report = build_report(desk.line(), "", desk.recorded(desk.ticket(1)), evaluate=evaluate)
    station = report["stations"]["cam-1"]
    keys = [*report, *station, *station["order"], *station["times_ms"]["infer"], *report["run"]]
    assert [key for key in keys if not named(key)] == []
