"""Whatever stands in a model's file, the answer is a model or one clear fault."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspectd.errors import ModelFault
from inspectd.model.directory import read

from .conftest import Export, paddledetection, places

TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["a", ":", "- ", "\n", " ", "[", "{", "&x", "*x", "!!", "|"])).map(
        "".join
    ),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
LESS_STRICT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_or_refused(folder: Path, text: str) -> None:
    """Read the directory with this file; anything but a fault of the model is a traceback."""
    (folder / "infer_cfg.yml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read(str(folder))
    except ModelFault as fault:
        told = fault
    else:
        return
    assert told.remedy
    assert str(folder) in str(told)


@LESS_STRICT
@given(TEXTS)
def test_any_text_is_a_model_fault_or_a_model(export: Export, text: str) -> None:
    """Whatever stands in the file."""
    read_or_refused(export(), text)


@LESS_STRICT
@given(TEXTS, st.data())
def test_a_file_with_text_put_in_anywhere_is_a_model_fault_or_a_model(
    export: Export, text: str, data: st.DataObject
) -> None:
    """As an editor damages it."""
    whole = yaml.safe_dump(paddledetection())
    at = data.draw(st.integers(0, len(whole)))
    read_or_refused(export(), whole[:at] + text + whole[at + len(text) :])


@LESS_STRICT
@given(VALUES, st.data())
def test_a_file_with_any_other_value_is_a_model_fault_or_a_model(
    export: Export, value: Any, data: st.DataObject
) -> None:
    """Right YAML, wrong meaning, at any place of the file."""
    config = paddledetection() | {"NMS": {"nms_top_k": 3}, "Global": {"model_name": "m"}}
    container, key = data.draw(st.sampled_from(places(config)))
    container[key] = value
    read_or_refused(export(), yaml.safe_dump(config))
