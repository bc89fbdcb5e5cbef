"""The page to read first, kept honest."""

from pathlib import Path

import inspectd
from inspectd.frame import Role
from inspectd.host.board import members
from inspectd.host.build import STEPS
from inspectd.host.journey import JOURNEY, LINE_WIDE, STAGES, STATION_WIDE
from inspectd.host.patience import PATIENCE

_ROOT = Path(inspectd.__file__).parent


def test_the_folders_of_the_stages_are_the_journey() -> None:
    """`ls inspectd/stages` shows them in the order in which a part meets them."""
    folders = sorted(p.name for p in (_ROOT / "stages").iterdir() if (p / "__init__.py").exists())
    assert folders == [role.name.lower() for role in STAGES]


def test_every_process_has_a_step_and_a_patience() -> None:
    """Whoever is on the board can be started, watched and stopped."""
    roles = {role for role, _ in members(1)}
    assert roles == set(STATION_WIDE) | set(LINE_WIDE)
    assert set(STEPS) == set(PATIENCE) == roles


def test_everybody_can_be_heard() -> None:
    """Each process of the line is a receiver of some leg, and each leg is between processes."""
    roles = set(STATION_WIDE) | set(LINE_WIDE)
    assert {leg.receiver for leg in JOURNEY} == roles
    assert {leg.sender for leg in JOURNEY} == roles - {Role.RECORD}
