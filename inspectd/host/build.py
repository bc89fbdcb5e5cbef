"""Where the step of each process comes from."""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from inspectd.config.schema import Line
from inspectd.frame import Role
from inspectd.ports import Context, Step

__all__ = ["STEPS", "build_step"]

STEPS: Mapping[Role, str] = MappingProxyType(
    {
        Role.CAMERA: "inspectd.stages.camera.step:build",
        Role.GATE: "inspectd.stages.gate.step:build",
        Role.INFER: "inspectd.stages.infer.step:build",
        Role.JUDGE: "inspectd.stages.judge.step:build",
        Role.SINK: "inspectd.stages.sink.step:build",
        Role.RECORD: "inspectd.record.step:build",
        Role.FORWARD: "inspectd.forward.step:build",
        Role.REJECT: "inspectd.stages.reject.step:build",
        Role.OPCUA: "inspectd.stages.sink.opcua_step:build",
        Role.METRICS: "inspectd.metrics.step:build",
        Role.WEB: "inspectd.web.step:build",
    }
)
"""Module and function, `build(line, station, context) -> Step`."""


def build_step(
    role: Role, line: Line, station: int, context: Context, other_steps: Mapping[str, str]
) -> Step:
    """Make the step of a process; its module is imported only in that process.

    `other_steps` replaces entries by role name (trials with steps of their own).
    """
    module, _, name = other_steps.get(role.name.lower(), STEPS[role]).partition(":")
    build: Callable[[Line, int, Context], Step] = getattr(importlib.import_module(module), name)
    return build(line, station, context)
