"""`inspectd report --from --until`: a shift from the record, with what people found afterwards."""

import csv
import io
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspectd.__main__ import main
from inspectd.record.database import FILE_NAME
from inspectd.record.history import History
from inspectd.review.judgement import Judgement
from inspectd.review.store import Reviews

Values = dict[tuple[str, str], str]


@pytest.fixture
def folder(record: Callable[..., Path], part: Callable[..., Any]) -> Path:
    """A record of 14:01 to 14:30 UTC; a false call among the rejects."""
    made = record(
        part(1, "OK"),
        part(2, detail='{"broken":[["<no_short>","1 short",1]]}'),
        part(3, "FAULT", reason="TRIGGER_MISSED"),
        part(4, "LATE", reason="DEADLINE_PASSED"),
        part(5, "OK"),
        part(30, "OK"),
    )
    with closing(History(made / FILE_NAME)) as history:
        Reviews(made).add(
            history.event(2), history.database_id, Judgement.FALSE_CALL, reviewer="Li"
        )
    return made


def _report(folder: Path, since: str, until: str, *more: str) -> int:
    zone = "+00:00"
    span = ["--from", f"2026-12-01T{since}{zone}", "--until", f"2026-12-01T{until}{zone}"]
    return main(["report", str(folder), *span, *more])


def _values(text: str) -> Values:
    return {(row["what"], row["name"]): row["value"] for row in csv.DictReader(io.StringIO(text))}


def test_a_shift_is_what_was_recorded_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From its begin on and before its end: 14:30 belongs to the next one."""
    assert _report(folder, "14:01", "14:30", "--pause-s", "90") == 0
    values = _values(capsys.readouterr().out)
    assert (values["parts", ""], values["yield", ""]) == ("5", "0.400000")
    assert [values["verdict", name] for name in ("OK", "NG", "UNFIT", "LATE", "FAULT")] == [
        "2", "1", "0", "1", "1",
    ]  # fmt: skip
    assert (values["missed_triggers", ""], values["broken_rule", "<no_short>"]) == ("1", "1")
    assert values["stop_s", "2026-12-01T14:05:00.000000Z"] == "1500"
    assert (values["false_calls", ""], values["false_call_rate", ""]) == ("1", "1.000000")
    assert values["escape_rate", ""] == ""


def test_the_page_loads_nothing_and_escapes_names(folder: Path, tmp_path: Path) -> None:
    """It is read offline, and a rule's name is no HTML."""
    page, table = tmp_path / "shift.html", tmp_path / "shift.csv"
    assert _report(folder, "14:00", "15:00", "--html", str(page), "--csv", str(table)) == 0
    text = page.read_text(encoding="utf-8")
    assert not any(word in text for word in ("http", "src=", "url(", "<script", "<no_short>"))
    assert "&lt;no_short&gt;" in text
    assert "50.00 %" in text
    assert _values(table.read_text(encoding="utf-8"))["parts", ""] == "6"


@pytest.mark.parametrize(
    ("since", "until", "words"),
    [("15:00", "14:00", "not after"), ("14:00", "14:00", "not after"), ("x", "14:00", "no moment")],
)
def test_a_wrong_span_is_one_sentence(
    folder: Path, since: str, until: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And exit code 2."""
    assert _report(folder, since, until) == 2
    assert words in capsys.readouterr().err
