"""A shift as one HTML page: nothing is loaded from anywhere, charts are SVG in place. Pure."""

from collections.abc import Iterator, Sequence
from html import escape

from inspectd.review.shift import Shift, StationShift

__all__ = ["page"]

_STYLE = """
body { font: 14px/1.4 sans-serif; color: #1b1f24; max-width: 190mm; margin: 10mm auto; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 17px; border-bottom: 2px solid #1b1f24; }
h3 { font-size: 14px; margin: 12px 0 4px; }
table { border-collapse: collapse; } td, th { padding: 2px 12px 2px 0; text-align: right; }
td:first-child, th:first-child { text-align: left; }
.big { font-size: 30px; font-weight: bold; } .dim { color: #57606a; }
section { break-inside: avoid; } svg { display: block; } @page { size: A4; margin: 12mm; }
"""
_ROW_PX, _NAME_PX, _BAR_PX = 20, 190, 380


def page(shift: Shift) -> str:
    """The whole page."""
    title = f"Shift report of line {escape(shift.line)}"
    parts = "".join(text for one in shift.stations for text in _station(one, shift.pause_s))
    span = f"{escape(shift.since_utc[:19])} to {escape(shift.until_utc[:19])} UTC"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f'<p class="dim">{span}</p>{parts}</body></html>\n'
    )


def _station(one: StationShift, pause_s: float) -> Iterator[str]:
    yield f'<section><h2>Station {escape(one.name)}</h2><p><span class="big">'
    yield f"{_percent(one.yield_share)}</span> yield of {one.parts} parts</p>"
    heads = "".join(f"<th>{escape(kind)}</th>" for kind in one.verdicts)
    counts = "".join(f"<td>{count}</td>" for count in one.verdicts.values())
    yield f"<table><tr><th></th>{heads}<th>missed triggers</th></tr>"
    yield f"<tr><td>parts</td>{counts}<td>{one.missed_triggers}</td></tr></table>"
    yield _bars("Reasons", one.reasons, "#b42318")
    yield _bars("Broken rules", one.broken, "#b54708")
    yield _bars(
        "Parts per hour (UTC)", [(hour[5:], count) for hour, count, _ in one.hours], "#175cd3"
    )
    yield f"<h3>Times without parts, longer than {pause_s:g} s</h3>"
    yield _stops(one)
    reviews = one.reviews
    yield "<h3>Reviews</h3><p>"
    yield f"False calls: {reviews.false_calls} of {reviews.rejects} reviewed rejects"
    yield f" ({_percent(reviews.false_call_rate)}). Escapes: {reviews.escapes} of"
    yield f" {reviews.passes} reviewed OK parts ({_percent(reviews.escape_rate)}).</p></section>"


def _stops(one: StationShift) -> str:
    if not one.stops:
        return "<p>none</p>"
    total_min = sum(stop.seconds for stop in one.stops) / 60
    shown = "".join(
        f"<tr><td>{escape(stop.begin_utc[:19])}</td><td>{stop.seconds / 60:.1f} min</td></tr>"
        for stop in sorted(one.stops, key=lambda stop: -stop.seconds)[:10]
    )
    return (
        f"<p>{len(one.stops)}, together {total_min:.1f} min; the longest:</p><table>{shown}</table>"
    )


def _bars(title: str, counts: Sequence[tuple[str, int]], colour: str) -> str:
    """A bar for each name, its count behind it, in the order given."""
    if not counts:
        return f"<h3>{title}</h3><p>none</p>"
    most = max(count for _, count in counts)
    rows = "".join(
        f'<text x="0" y="{place * _ROW_PX + 14}">{escape(name)}</text>'
        f'<rect x="{_NAME_PX}" y="{place * _ROW_PX + 3}" height="{_ROW_PX - 6}"'
        f' width="{_BAR_PX * count / most:.1f}" fill="{colour}"/>'
        f'<text x="{_NAME_PX + _BAR_PX * count / most + 6:.1f}" y="{place * _ROW_PX + 14}">'
        f"{count}</text>"
        for place, (name, count) in enumerate(counts)
    )
    size = f'width="{_NAME_PX + _BAR_PX + 70}" height="{len(counts) * _ROW_PX}"'
    return f'<h3>{title}</h3><svg {size} font-size="13" role="img">{rows}</svg>'


def _percent(share: float | None) -> str:
    return "no figure" if share is None else f"{100 * share:.2f} %"
