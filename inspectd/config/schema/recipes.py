"""Several kinds of parts at one station: each with rules of its own, chosen by the PLC."""

from dataclasses import dataclass

from inspectd.config.schema.key import key
from inspectd.config.schema.rules import Rule

__all__ = ["Recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """When is a part of this kind good? Same camera, gate and model as all others."""

    number: int = key(ge=1, le=999)
    """What the PLC asks for by the command RECIPE. Unique at the station."""
    name: str = key(is_name=True)
    """Appears in the record of every part that was judged by it. Unique at the station."""
    rules: tuple[Rule, ...] = key(nonempty=True)
    """All must hold."""
