"""A report as lines of text for a person.

Pure: what `inspectd report` prints, and a run at its end.
"""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["summary_lines"]

_WRONG_SHOWN = 10


def summary_lines(report: Mapping[str, Any], archive: str = "") -> list[str]:
    """Say what a run amounted to.

    Args:
        report: Of `inspectd.record.report.build_report`.
        archive: Folder of the pictures, named when there are any.
    """
    run = report["run"]
    named = f"line {run['line']}, run {run['run_id']}, recipe {run['recipe_digest'] or '-'}"
    lines = [f"{named}: {report['parts']} parts"]
    if report["unrecorded"]:
        lines.append(f"{report['unrecorded']} verdicts left that are NOT in the record")
    for name, station in report["stations"].items():
        lines.extend(_station(name, station))
    if report["pixel_copies"] is not None:
        copies = ", ".join(f"{role} {count:g}" for role, count in report["pixel_copies"].items())
        lines.append(f"copies of pixels per frame: {copies}")
    lines.extend(_simulator(name, one) for name, one in report["simulators"].items())
    if archive and report["archived"]:
        lines.append(f"{report['archived']} pictures of rejected parts lie in {archive}")
    return lines


def _station(name: str, station: Mapping[str, Any]) -> Iterator[str]:
    verdicts = "  ".join(f"{kind} {count}" for kind, count in station["verdicts"].items() if count)
    yield f"station {name}: {station['parts']} parts: {verdicts or 'none'}"
    if station["reasons"]:
        reasons = "  ".join(f"{reason} {count}" for reason, count in station["reasons"].items())
        yield f"  reasons: {reasons}"
    yield f"  {_order(station)}"
    yield "  stage      parts      p50      p99      max   budget   (ms)"
    for stage, times in station["times_ms"].items():
        yield _stage(stage, times)
    if station["batches"]:
        sizes = "  ".join(f"{size}: {count}" for size, count in station["batches"].items())
        yield f"  frames by batch size: {sizes}"
    yield from _labels(station["labels"])
    yield from _scores(station["scores"])


def _order(station: Mapping[str, Any]) -> str:
    """One sentence on the promises: each trigger one verdict, in order, in time."""
    if not station["parts"]:
        return "no part came"
    order, late = station["order"], station["late"]
    faults = [
        f"{one['count']} {kind.replace('_', ' ')}"
        for kind, one in order.items()
        if kind != "is_complete" and one["count"]
    ]
    kept = "each trigger one verdict, in order" if order["is_complete"] else ", ".join(faults)
    return f"{kept}; late and said so: {late['said']}, late and not said so: {late['unmarked']}"


def _stage(name: str, times: Mapping[str, Any]) -> str:
    numbers = "".join(
        f"{'-' if times[key] is None else format(times[key], '.2f'):>9}"
        for key in ("p50", "p99", "max", "budget")
    )
    over = f"   {times['over_budget']} over" if times["over_budget"] else ""
    return f"  {name:<9}{times['count']:>7}{numbers}{over}"


def _labels(labels: Mapping[str, Any] | None) -> Iterator[str]:
    if labels is None:
        return
    if "error" in labels:
        yield f"  labels: {labels['error']}"
        return
    yield (
        f"  against the labels: {labels['right']} of {labels['checked']} verdicts right,"
        f" {labels['escapes']} escapes, {labels['false_calls']} false calls,"
        f" {labels['late']} late, {labels['unlabelled']} without a label"
    )
    for wrong in labels["wrong_parts"][:_WRONG_SHOWN]:
        yield (
            f"    wrong: trigger {wrong['trigger_id']} ({wrong['image']}):"
            f" {wrong['verdict']} {wrong['reason']}, expected {wrong['expected']}"
        )
    if labels["wrong"] > _WRONG_SHOWN:
        yield f"    and {labels['wrong'] - _WRONG_SHOWN} more; inspectd report --json has them"


def _scores(scores: Mapping[str, Any] | None) -> Iterator[str]:
    if scores is None:
        return
    if "error" in scores:
        yield f"  detections: not scored: {scores['error']}"
        return
    yield (
        f"  detections of {scores['images']} pictures: AP50 {scores['ap50']:.4f},"
        f" AP50:95 {scores['ap50_95']:.4f}"
    )
    classes = "  ".join(f"{name} {ap:.3f}" for name, ap in scores["ap33_by_class"].items())
    yield f"  AP at IoU 0.33: {classes}"
    yield (
        f"  at score {scores['threshold']:g}: {scores['false_calls_per_board']:g} boxes too many,"
        f" {scores['escapes_per_board']:g} too few a picture"
    )


def _simulator(name: str, one: Mapping[str, Any]) -> str:
    agrees = "agrees with the record" if one["agrees"] else "DIFFERS from the record"
    return (
        f"PLC of {name}: fired {one.get('fired', 0)}, took {one['verdicts_taken']} verdicts,"
        f" {one['verdicts_recorded']} recorded as sent: {agrees}"
    )
