"""Alert rules and dashboard: valid, tested, documented, and about metrics that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspectd.__main__ import main
from inspectd.metrics.catalog import CATALOG, Metric, Type
from inspectd.metrics.shipped import SHIPPED

RULES, DASHBOARD = SHIPPED
_TESTS = Path(__file__).parent / "rules_test.yaml"
_DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"
_SELECTOR = re.compile(r"\b(inspectd_\w+)(?:\{([^}]*)\})?")


def rules() -> list[dict[str, Any]]:
    """All alert rules."""
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return list(group["rules"])


def expressions_of_dashboard() -> list[str]:
    """Everything that the dashboard asks."""
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = [one["expr"] for panel in board["panels"] for one in panel.get("targets", ())]
    variables = [one["query"] for one in board["templating"]["list"]]
    return asked + [one["query"] for one in variables if isinstance(one, dict)]


def metric_of(series: str) -> Metric | None:
    """The metric that a series belongs to."""
    if series in CATALOG:
        return CATALOG[series]
    base = CATALOG.get(re.sub(r"_(bucket|sum|count)$", "", series))
    return base if base is not None and base.type is Type.HISTOGRAM else None


@pytest.mark.parametrize(
    "expression", [one["expr"] for one in rules()] + expressions_of_dashboard()
)
def test_what_is_asked_for_exists(expression: str) -> None:
    """Metric and labels are those of a scrape."""
    for series, selectors in _SELECTOR.findall(expression):
        metric = metric_of(series)
        assert metric is not None, series
        asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors or ""))
        assert asked <= {"line", "le", *metric.labels}, (series, asked)


def test_every_expression_is_promql(tmp_path: Path) -> None:
    """Those of the dashboard too, with Grafana's variables filled in."""
    promtool = _promtool()
    filled = [
        one.replace("$__rate_interval", "1m").replace("$line", "l").replace("$station", ".*")
        for one in expressions_of_dashboard()
        if not one.startswith("label_values")
    ]
    made = [{"record": f"dashboard:{i}", "expr": one} for i, one in enumerate(filled)]
    file = tmp_path / "dashboard.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "d", "rules": made}]}), encoding="utf-8")
    assert len(filled) > 30
    subprocess.run([promtool, "check", "rules", str(RULES), str(file)], check=True)


@pytest.mark.slow
def test_each_alert_fires_on_what_it_is_for(tmp_path: Path) -> None:
    """`promtool test rules` on the file as shipped."""
    promtool = _promtool()
    for file in (RULES, _TESTS):
        shutil.copy(file, tmp_path)
    command = [promtool, "test", "rules", _TESTS.name]
    tested = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_no_alert_is_untested() -> None:
    """Each stands in the test file as one that fires."""
    fires = set(re.findall(r"Inspectd\w+", _TESTS.read_text(encoding="utf-8")))
    assert fires == {rule["alert"] for rule in rules()}


def test_each_alert_says_what_to_do() -> None:
    """Its annotation leads to a section of docs/metrics.md, and no section is left over."""
    sections = re.findall(r"^### (Inspectd\w+)$", _DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sections == [rule["alert"] for rule in sorted(rules(), key=_place(sections))]
    for rule in rules():
        assert rule["annotations"]["action"].endswith(f"docs/metrics.md#{rule['alert'].lower()}")
        assert rule["labels"]["severity"] in ("warning", "critical")


def _place(sections: list[str]) -> Any:
    return lambda rule: sections.index(rule["alert"])


def test_the_files_are_written_where_they_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`inspectd metrics --rules DIR`, and one clear sentence where that cannot be."""
    assert main(["metrics", "--rules", str(tmp_path)]) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"inspectd.rules.yaml", "inspectd.json"}
    capsys.readouterr()
    assert main(["metrics", "--rules", str(tmp_path / "none")]) == 2
    assert "is no folder; make it first" in capsys.readouterr().err
    assert main(["metrics"]) == 2
    assert "give a station file, or --rules DIR" in capsys.readouterr().err


def _promtool() -> str:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool here: apt-get install prometheus")
    return promtool
