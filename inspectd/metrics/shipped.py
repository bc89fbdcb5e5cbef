"""What is shipped beside the exporter: alert rules for Prometheus, a dashboard for Grafana."""

from pathlib import Path

__all__ = ["SHIPPED"]

_HERE = Path(__file__).parent
SHIPPED: tuple[Path, ...] = (
    _HERE / "rules" / "inspectd.rules.yaml",
    _HERE / "dashboards" / "inspectd.json",
)
"""The files; their names are kept where they are copied to."""
