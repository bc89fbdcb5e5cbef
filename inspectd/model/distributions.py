"""Which wheels claim the module `paddle`: exactly one may.

`paddlepaddle` and `paddlepaddle-gpu` both install `paddle/`; the later one overwrites files of the
earlier, and what then runs is neither.
"""

from collections.abc import Callable, Iterable
from importlib import metadata

from inspectd.errors import EngineRefused

__all__ = ["CPU", "GPU", "installed", "require", "trouble"]

CPU, GPU = "paddlepaddle", "paddlepaddle-gpu"


def installed(version: Callable[[str], str] | None = None) -> dict[str, str]:
    """Answer the versions of the wheels that are here, by distribution name.

    `version` looks one up; by default among the distributions of this environment.
    """
    found = {name: _version(name, version or metadata.version) for name in (CPU, GPU)}
    return {name: number for name, number in found.items() if number is not None}


def _version(name: str, version: Callable[[str], str]) -> str | None:
    try:
        return version(name)
    except metadata.PackageNotFoundError:
        return None


def trouble(device: str, have: Iterable[str]) -> str:
    """Answer what is wrong with these distributions for `device` (cpu or gpu); empty: nothing.

    The GPU wheel runs on the CPU as well.
    """
    names = set(have)
    if {CPU, GPU} <= names:
        return (
            f"{CPU} and {GPU} are both installed and overwrite each other's module `paddle`;"
            " make a new environment with inspectd[cpu] or inspectd[gpu], never both"
        )
    if not names & {CPU, GPU}:
        return f"Paddle is not installed; pip install 'inspectd[{device}]'"
    if device == "gpu" and GPU not in names:
        return (
            f"{CPU} cannot use a GPU; make a new environment with inspectd[gpu],"
            " or say `device: cpu`"
        )
    return ""


def require(model: str, device: str) -> None:
    """Raise `EngineRefused` for `model` when Paddle is not here as `device` needs it."""
    what, _, remedy = trouble(device, installed()).partition("; ")
    if what:
        raise EngineRefused(model, what, remedy)
