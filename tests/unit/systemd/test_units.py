"""The unit files as systemd itself reads them, without starting anything."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[3] / "systemd"
EXPOSURE_MAX = 2.5

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="no systemd-analyze on this machine"
)


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """The service of a line called press, with a program that is there."""
    program = tmp_path / "inspectd"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    text = (UNITS / "inspectd@.service").read_text(encoding="utf-8")
    unit = tmp_path / "inspectd@press.service"
    unit.write_text(text.replace("/opt/inspectd/bin/inspectd", str(program)), encoding="utf-8")
    shutil.copy(UNITS / "inspectd.slice", tmp_path)
    return unit


def analyzed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run systemd-analyze."""
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_systemd_has_nothing_to_say_about_the_units(instance: Path) -> None:
    """It exits with 0 on unknown keys: any output is a fault."""
    done = analyzed("verify", "--man=no", str(instance), str(instance.parent / "inspectd.slice"))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_service_is_hardly_exposed(instance: Path) -> None:
    """Its exposure by systemd's own count."""
    done = analyzed("security", "--offline=true", str(instance))
    found = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) <= EXPOSURE_MAX


@pytest.mark.parametrize(
    "setting",
    [
        "Type=notify",
        "KillMode=mixed",
        "RestartPreventExitStatus=2",
        "ProtectSystem=strict",
        "WatchdogSec=10",
        "LimitRTPRIO=20",
    ],
)
def test_what_the_line_relies_on_is_set(setting: str) -> None:
    """Each of these has a reason in docs/systemd.md."""
    lines = (UNITS / "inspectd@.service").read_text(encoding="utf-8").splitlines()
    assert setting in lines
