"""Exactly one wheel may claim the module `paddle`."""

import re
from importlib import metadata

import pytest

from inspectd.errors import EngineRefused
from inspectd.model.distributions import CPU, GPU, installed, require, trouble


@pytest.mark.parametrize(
    ("device", "have", "words"),
    [
        ("cpu", [], r"inspectd\[cpu\]"),
        ("gpu", [], r"inspectd\[gpu\]"),
        ("cpu", [CPU, GPU], "both installed"),
        ("gpu", [CPU, GPU], "both installed"),
        ("gpu", [CPU], "cannot use a GPU"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(device: str, have: list[str], words: str) -> None:
    """The extras are named."""
    assert re.search(words, trouble(device, have))


@pytest.mark.parametrize(("device", "have"), [("cpu", [CPU]), ("cpu", [GPU]), ("gpu", [GPU])])
def test_a_fitting_wheel_is_no_trouble(device: str, have: list[str]) -> None:
    """The GPU wheel runs on the CPU as well."""
    assert trouble(device, have) == ""


def test_only_what_is_there_is_listed() -> None:
    """A wheel that is not installed is left out."""

    def version(name: str) -> str:
        if name == GPU:
            raise metadata.PackageNotFoundError(name)
        return "3.3.1"

    assert installed(version) == {CPU: "3.3.1"}


def test_a_model_is_refused_with_the_remedy_apart() -> None:
    """What is wrong and what to do are two fields; where nothing is wrong, nothing is raised."""
    what = trouble("gpu", installed())
    if not what:
        require("caps", "gpu")
        return
    with pytest.raises(EngineRefused) as caught:
        require("caps", "gpu")
    assert str(caught.value) == f"model caps: {what}"
    assert caught.value.remedy
