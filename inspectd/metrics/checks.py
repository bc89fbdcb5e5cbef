"""What `inspectd check` asks of `metrics` beyond the file."""

from collections.abc import Iterator
from importlib.util import find_spec

from inspectd.config.schema import Line

__all__ = ["check"]


def check(line: Line) -> Iterator[tuple[str, str]]:
    """Whether the library that writes the figures is there."""
    if line.metrics is not None and find_spec("prometheus_client") is None:
        yield "metrics", "prometheus_client is not installed; pip install 'inspectd[metrics]'"
