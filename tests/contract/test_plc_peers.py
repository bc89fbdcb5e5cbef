"""Every fieldbus against a real PLC of it: the suite of `tests.contract.peers.suite`.

Modbus TCP has two servers that share no code (pymodbus; `modbus-serial` of npm), and so has S7
(python-snap7 in Python; the native Snap7 library). What is not here is skipped with the reason.
"""

import pytest

from tests.contract.peers.peer import KINDS, Kind
from tests.contract.peers.suite import PeerContract

pytestmark = [pytest.mark.long, pytest.mark.process, pytest.mark.slow]


@pytest.fixture(params=KINDS, ids=lambda kind: str(kind.name))
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of fieldbus in turn."""
    kind: Kind = request.param
    reason = kind.missing()
    if reason:
        pytest.skip(reason)
    return kind


class TestEveryFieldbus(PeerContract):
    """See `PeerContract`."""
