"""Takes processor time from the line: busy processes, before it in the queue where that is allowed.

python -m inspectd.host.tether PARENT NAME inspectd.chaos.burn
"""

import os
import subprocess
import sys
from contextlib import suppress

__all__ = ["Burners", "main"]

_NICENESS = -5
_PER_CORE = 2


class Burners:
    """Some processes that do nothing, as fast as they can."""

    def __init__(self) -> None:
        """Start two for each core that we may use."""
        count = _PER_CORE * len(os.sched_getaffinity(0))
        command = [
            *(sys.executable, "-m", "inspectd.host.tether", str(os.getpid()), "insp-burn"),
            "inspectd.chaos.burn",
        ]
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
            for _ in range(count)
        ]

    def close(self) -> None:
        """End them."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


def main() -> None:
    """Burn until killed."""
    with suppress(OSError):
        os.nice(_NICENESS)
    while True:
        pass


if __name__ == "__main__":
    main()
