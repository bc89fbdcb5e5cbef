"""`inspectd review FILE list|mark|history|export`: what people say of verdicts."""

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import cv2

from inspectd.config.load import load
from inspectd.config.schema import ForbidRule, Line
from inspectd.errors import Exit, UsageFault
from inspectd.record.database import FILE_NAME as EVENTS_NAME
from inspectd.record.history import History, Recorded
from inspectd.review import export
from inspectd.review.judgement import Judgement, Review
from inspectd.review.store import FILE_NAME, Reviews

__all__ = ["add_arguments", "run"]

_REJECTS = ("NG", "UNFIT", "LATE", "FAULT")
_WORDS = {one.value.replace("_", "-"): one for one in Judgement}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take the file, and what to do."""
    parser.add_argument("file", help="station file (YAML)")
    what = parser.add_subparsers(metavar="WHAT", required=True, dest="what")
    shown = what.add_parser("list", help="the latest rejects, and what was said of them")
    shown.add_argument("--limit", type=int, default=30, metavar="N", help="at most so many (30)")
    shown.add_argument("--station", default="", metavar="NAME", help="only of this station")
    shown.add_argument("--all", action="store_true", help="OK parts too")
    shown.add_argument("--unreviewed", action="store_true", help="only those nobody has reviewed")
    mark = what.add_parser("mark", help="say whether a verdict was right")
    mark.add_argument("sequence", type=int, help="number of the event, as `list` prints it")
    mark.add_argument("judgement", choices=sorted(_WORDS), help="what you found")
    mark.add_argument("--by", required=True, metavar="NAME", help="who says so")
    mark.add_argument("--note", default="", metavar="TEXT", help="anything else")
    trail = what.add_parser("history", help="everything that was ever said of an event")
    trail.add_argument("sequence", type=int, help="number of the event")
    out = what.add_parser("export", help="pictures and COCO labels of reviewed parts")
    out.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    out.add_argument(
        "--only", choices=sorted(_WORDS), action="append", help="of this judgement; may be repeated"
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked."""
    line = load(args.file, must_exist=False)
    folder = Path(line.record.folder)
    reviews = Reviews(folder / FILE_NAME)
    with closing(History(folder / EVENTS_NAME)) as history:
        if args.what == "list":
            return _list(args, history, reviews)
        if args.what == "mark":
            return _mark(args, history, reviews)
        if args.what == "history":
            return _trail(args, history, reviews)
        return _export(args, line, history, reviews)


def _list(args: argparse.Namespace, history: History, reviews: Reviews) -> int:
    if args.limit < 1:
        raise UsageFault("must be at least 1", "--limit", "give a number of lines")
    said = reviews.latest(station=args.station)
    verdicts = ("OK", *_REJECTS) if args.all else _REJECTS
    wanted = args.limit + (len(said) if args.unreviewed else 0)
    rows = [
        (event, said.get((history.database_id, event.sequence)))
        for event in history.latest(wanted, verdicts, args.station)
    ]
    if args.unreviewed:
        rows = [row for row in rows if row[1] is None]
    for event, review in rows[: args.limit]:
        print(_row(event, review))
    counts = reviews.counts(station=args.station)
    print(
        f"{counts.reviewed} reviewed: {counts.false_calls} false calls of {counts.rejects} rejects,"
        f" {counts.escapes} escapes of {counts.passes} passed"
    )
    return Exit.OK


def _row(event: Recorded, review: Review | None) -> str:
    said = "-" if review is None else f"{review.judgement.value} ({review.reviewer})"
    picture = event.archive or "no picture"
    broken = [str(rule[1]) for rule in json.loads(event.detail).get("broken", [])]
    words = f"  {'; '.join(broken)}" if broken else ""
    return (
        f"{event.sequence:>8} {event.recorded_utc[:19]} {event.station} {event.trigger_id:>6}"
        f" {event.verdict:<5} {event.reason:<16} {said:<24} {picture}{words}"
    )


def _mark(args: argparse.Namespace, history: History, reviews: Reviews) -> int:
    event = history.event(args.sequence)
    judgement = _WORDS[args.judgement]
    review = reviews.add(event, history.database_id, judgement, reviewer=args.by, note=args.note)
    print(f"review {review.number}: event {event.sequence} ({event.verdict}) {judgement.value}")
    return Exit.OK


def _trail(args: argparse.Namespace, history: History, reviews: Reviews) -> int:
    for review in reviews.history(history.database_id, args.sequence):
        note = f": {review.note}" if review.note else ""
        print(
            f"{review.number:>6} {review.reviewed_utc[:19]} {review.reviewer}"
            f" {review.judgement.value}{note}"
        )
    return Exit.OK


def _export(args: argparse.Namespace, line: Line, history: History, reviews: Reviews) -> int:
    wanted = {_WORDS[word] for word in args.only or _WORDS}
    chosen = [one for one in reviews.latest().values() if one.judgement in wanted]
    parts: list[export.Reviewed] = []
    gone: list[export.Left] = []
    for review in sorted(chosen, key=lambda one: one.number):
        event = _event_of(history, review)
        if event is None:
            gone.append(export.Left(review.sequence, "its event is in another file, or cleared"))
        else:
            parts.append(export.Reviewed(event, review))
    done = export.write(
        parts,
        Path(line.record.folder),
        args.out,
        classes=_classes(parts),
        forbidding=_forbidding(line),
        size_of=_size_of,
    )
    for left in (*gone, *done.left):
        print(f"left out: event {left.sequence}: {left.why}")
    print(f"{done.pictures} pictures and {done.boxes} boxes are in {done.labels}")
    return Exit.OK if done.pictures else Exit.FAULT


def _event_of(history: History, review: Review) -> Recorded | None:
    if review.database_id != history.database_id:
        return None
    try:
        return history.event(review.sequence)
    except UsageFault:
        return None


def _classes(parts: Sequence[export.Reviewed]) -> list[str]:
    """Every class that was found in any of the parts, right or wrong, in alphabetical order."""
    rows = [row for one in parts for row in json.loads(one.event.detail).get("detections", [])]
    return sorted({str(row[0]) for row in rows})


def _forbidding(line: Line) -> dict[str, tuple[str, ...]]:
    """Classes that a rule of this line forbids, by the rule's name."""
    rules = [
        rule
        for station in line.stations
        for rule in (*station.rules, *(one for kind in station.recipes for one in kind.rules))
    ]
    return {rule.name: rule.labels for rule in rules if isinstance(rule, ForbidRule)}


def _size_of(path: Path) -> tuple[int, int] | None:
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return None if picture is None else (picture.shape[1], picture.shape[0])
