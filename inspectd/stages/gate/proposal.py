"""What was learnt, as a `gate:` block for a station file, with the arithmetic beside it."""

from inspectd.config.schema import Region
from inspectd.config.shapes import plain
from inspectd.stages.gate.learn import ROUNDS, Learnt
from inspectd.stages.gate.limits import Bound

__all__ = ["block_of"]


def block_of(learnt: Learnt, region: Region | None, level: int, reference: str = "") -> str:
    """Answer the block, two spaces deep, ending with a line break.

    Args:
        learnt: The limits.
        region: Where they were learnt; None: the whole frame.
        level: From which grey value on pixels counted as burnt out.
        reference: Path of the reference picture; needed where a likeness was learnt.
    """
    lines = ["gate:", *(f"  # {line}" for line in _story(learnt))]
    place = "" if region is None else f", region: [{', '.join(map(str, region))}]"
    by_check: dict[str, list[Bound]] = {}
    for bound in learnt.bounds:
        by_check.setdefault(bound.key.partition(".")[0], []).append(bound)
    for check, bounds in by_check.items():
        more = {
            "saturation": f", level: {level}",
            "glare": f", level: {level}",
            "presence": f", reference: {_quoted(reference)}",
        }.get(check, "")
        lines.extend(_check(check, bounds, f"{more}{place}"))
    lines.append(f"  frozen: {{max_repeats: {learnt.max_repeats}}}")
    return "\n".join(lines) + "\n"


def _story(learnt: Learnt) -> list[str]:
    share = 100 * learnt.expected_unfit_share
    return [
        f"Learnt from {learnt.pictures} good pictures; seen: number {learnt.order} from the worst.",
        f"Expected false-unfit rate for pictures of this kind: at most {share:.2g} % before the",
        f"margin. Unfit of the {learnt.pictures}: {learnt.unfit}; judged by limits learnt without",
        f"their fifth of the folder: {learnt.unfit_kept_out} (in {ROUNDS} rounds).",
    ]


def _check(check: str, bounds: list[Bound], more: str) -> list[str]:
    why = next((bound.left_out for bound in bounds if bound.left_out), "")
    if why:
        seen = ", ".join(f"seen {bound.seen:.4g}" for bound in bounds)
        return [f"  # {check}: not checked, {why} ({seen})"]
    limits = ", ".join(f"{bound.key.partition('.')[2]}: {plain(bound.limit)}" for bound in bounds)
    seen = ", ".join(f"seen {bound.seen:.4g}" for bound in bounds)
    return [f"  {check}: {{{limits}{more}}} # {seen}, median {bounds[0].median:.4g}"]


def _quoted(path: str) -> str:
    """A path as YAML text, whatever stands in it."""
    return "'" + path.replace("'", "''") + "'"
