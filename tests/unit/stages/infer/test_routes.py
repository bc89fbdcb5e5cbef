"""The decision table: every combination of program, Paddle, device, kernels and precision."""

from itertools import product
from typing import Any

import pytest

from inspectd.stages.infer.routes import (
    Artefact,
    Build,
    Refusal,
    Route,
    Wish,
    choose,
    decide,
)

BUILDS = {
    "2.6 cpu": Build(version=(2, 6, 2)),
    "2.6 gpu": Build(version=(2, 6, 2), cuda="11.8", cudnn="8.6.0", tensorrt="8.5.3"),
    "2.6 gpu, no TensorRT": Build(version=(2, 6, 2), cuda="11.8"),
    "3.3 cpu": Build(version=(3, 3, 1), has_openvino=True),
    "3.3 gpu": Build(version=(3, 3, 1), cuda="12.6", tensorrt="10.5.0", has_converter=True),
    "3.3 gpu, no converter": Build(version=(3, 3, 1), cuda="11.8", tensorrt="8.6.1"),
    "3.3 gpu, no TensorRT": Build(version=(3, 3, 1), cuda="12.6", has_converter=True),
}
PDMODEL, JSON = Artefact("pdmodel"), Artefact("json")
QUANTISED = {"pdmodel": Artefact("pdmodel", is_quantised=True), "json": Artefact("json", True)}  # noqa: FBT003

ON_CPU = ("2.6 cpu", "2.6 gpu", "2.6 gpu, no TensorRT", "3.3 cpu", "3.3 gpu")
ON_CPU_3 = ("3.3 cpu", "3.3 gpu", "3.3 gpu, no converter", "3.3 gpu, no TensorRT")
ALL = tuple(BUILDS)
WITH_GPU = tuple(name for name in BUILDS if "gpu" in name)
WITH_GPU_3 = tuple(name for name in WITH_GPU if name.startswith("3.3"))
WITH_TENSORRT = ("2.6 gpu", "3.3 gpu", "3.3 gpu, no converter")

# What there is, and nothing else: (format, device, kernels, precision, quantised, calibrated) ->
# way and the Paddles that have it.
TABLE: dict[tuple[str, str, str, str, bool, bool], tuple[Route, tuple[str, ...]]] = {}
for _quantised, _calibrated in product((False, True), repeat=2):
    _rest = (_quantised, _calibrated)
    for _format, _builds in (("pdmodel", ALL), ("json", ON_CPU_3)):
        for _kernels in ("onednn", "auto"):
            TABLE[(_format, "cpu", _kernels, "fp32", *_rest)] = (Route.CPU_ONEDNN, _builds)
        TABLE[(_format, "cpu", "plain", "fp32", *_rest)] = (Route.CPU_PLAIN, _builds)
    TABLE[("pdmodel", "cpu", "openvino", "fp32", *_rest)] = (Route.CPU_OPENVINO, ("3.3 cpu",))
    for _kernels, _precision in product(("auto", "plain"), ("fp32", "fp16")):
        TABLE[("pdmodel", "gpu", _kernels, _precision, *_rest)] = (Route.GPU_PLAIN, WITH_GPU)
        TABLE[("json", "gpu", _kernels, _precision, *_rest)] = (Route.GPU_PLAIN, WITH_GPU_3)
    for _precision in ("fp32", "fp16"):
        TABLE[("pdmodel", "gpu", "tensorrt", _precision, *_rest)] = (
            Route.TENSORRT_ENGINE,
            WITH_TENSORRT,
        )
        TABLE[("json", "gpu", "tensorrt", _precision, *_rest)] = (
            Route.TENSORRT_CONVERT,
            ("3.3 gpu",),
        )
    if _quantised or _calibrated:
        TABLE[("pdmodel", "gpu", "tensorrt", "int8", *_rest)] = (
            Route.TENSORRT_ENGINE,
            WITH_TENSORRT,
        )
    if _quantised:
        TABLE[("json", "gpu", "tensorrt", "int8", *_rest)] = (Route.TENSORRT_CONVERT, ("3.3 gpu",))

CASES = list(
    product(
        ("pdmodel", "json"),
        ("cpu", "gpu"),
        ("auto", "onednn", "openvino", "plain", "tensorrt"),
        ("fp32", "fp16", "int8"),
        (False, True),
        (False, True),
    )
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_each_combination_goes_its_way_or_is_refused(case: Any) -> None:
    """The table above says which Paddle has the way; every other combination is refused."""
    kind, device, backend, precision, is_quantised, is_calibrated = case
    wish = Wish(device=device, backend=backend, precision=precision, has_calibration=is_calibrated)
    route, builds = TABLE.get(case, (None, ()))
    for name, build in BUILDS.items():
        answer = decide(Artefact(kind, is_quantised), build, wish)
        if name in builds:
            assert answer is route, name
        else:
            assert isinstance(answer, Refusal), name
            assert answer.what
            assert answer.remedy


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_a_wish_for_the_gpu_never_ends_on_the_cpu(case: Any) -> None:
    """Whatever else is asked: the way is on the device that the file names, or there is none."""
    kind, device, backend, precision, is_quantised, is_calibrated = case
    wish = Wish(device=device, backend=backend, precision=precision, has_calibration=is_calibrated)
    for build in (*BUILDS.values(), None):
        answer = decide(Artefact(kind, is_quantised), build, wish)
        if isinstance(answer, Route):
            assert answer.is_gpu == (device == "gpu")
            assert answer.is_tensorrt == (backend == "tensorrt")


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_an_unknown_paddle_is_refused_what_none_has(case: Any) -> None:
    """At a desk without Paddle a file is right exactly when some Paddle could run it."""
    kind, device, backend, precision, is_quantised, is_calibrated = case
    wish = Wish(device=device, backend=backend, precision=precision, has_calibration=is_calibrated)
    artefact = Artefact(kind, is_quantised)
    some = any(isinstance(decide(artefact, each, wish), Route) for each in BUILDS.values())
    assert isinstance(decide(artefact, None, wish), Route) == some


GPU = BUILDS["3.3 gpu"]


@pytest.mark.parametrize(
    ("artefact", "wish", "key", "part"),
    [
        (JSON, {"route": "engine"}, "tensorrt.route", "takes .pdmodel"),
        (PDMODEL, {"route": "convert"}, "tensorrt.route", "takes .json"),
        (JSON, {"gpu_id": 1}, "gpu.id", "card 0"),
    ],
)
def test_a_route_that_the_program_cannot_go_is_refused(
    artefact: Artefact, wish: dict[str, Any], key: str, part: str
) -> None:
    """Paddle would run without TensorRT, or on another card, and not say so."""
    answer = decide(artefact, GPU, Wish(device="gpu", backend="tensorrt", **wish))
    assert isinstance(answer, Refusal)
    assert answer.key == key
    assert part in answer.what


@pytest.mark.parametrize(("artefact", "route"), [(PDMODEL, "engine"), (JSON, "convert")])
def test_a_route_that_fits_the_program_is_taken(artefact: Artefact, route: Any) -> None:
    """Naming it changes nothing."""
    named = decide(artefact, GPU, Wish(device="gpu", backend="tensorrt", route=route))
    assert named is decide(artefact, GPU, Wish(device="gpu", backend="tensorrt"))


@pytest.mark.parametrize(
    ("build", "wish", "expected"),
    [
        ("2.6 gpu", Wish(device="gpu", backend="tensorrt"), (0, Route.TENSORRT_ENGINE)),
        (
            "3.3 gpu",
            Wish(device="gpu", backend="tensorrt", route="convert"),
            (1, Route.TENSORRT_CONVERT),
        ),
        ("2.6 cpu", Wish(), (0, Route.CPU_ONEDNN)),
    ],
)
def test_of_two_programs_the_first_that_can_is_taken(
    build: str, wish: Wish, expected: tuple[int, Route]
) -> None:
    """A directory may hold both formats; `.pdmodel` comes first."""
    assert choose([PDMODEL, JSON], BUILDS[build], wish) == expected


def test_when_no_program_can_the_first_refusal_is_told() -> None:
    """It is about the preferred program."""
    answer = choose([JSON], BUILDS["2.6 cpu"], Wish())
    assert isinstance(answer, Refusal)
    assert answer.is_of_the_model
    assert "need Paddle 3 (Paddle 2.6.2, CPU build)" in answer.what
