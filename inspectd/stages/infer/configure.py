"""EDGE (paddle): from what is asked to a configuration, and back again.

Paddle's silent ways are undone here. A CPU build ignores `enable_use_gpu`; a `.json` program fails
in its first run with oneDNN unless one pass is taken out (seen with 3.3); the OpenVINO engine
writes its cache into the current folder unless told otherwise. So everything is read back.
"""

import re
from enum import Enum
from typing import Any

from inspectd.stages.infer.asking import Asked
from inspectd.stages.infer.routes import Route

__all__ = ["CONVERTED", "SHAPES_FILE", "Purpose", "configured", "mismatches", "summary_of"]

SHAPES_FILE = "shapes.pbtxt"
"""Ranges of every tensor inside the program, collected by runs; in the folder of the engines."""
CONVERTED = "converted"
"""Stem of the program that the converter writes."""
_JSON_TRAP = "onednn_placement_pass"
"""With it, PIR programs of 3.3 end in `ConvertPirAttribute2RuntimeAttribute` (NotImplemented)."""
_PRECISIONS = {"fp32": "Float32", "fp16": "Half", "int8": "Int8"}
_MEGABYTE = 1 << 20


class Purpose(Enum):
    """What a predictor is for."""

    SERVE = "serve"
    """Judge parts; also the build of TensorRT engines, which is the first time of the same."""
    COLLECT = "collect"
    """Run the smallest and the largest batch, and note the shapes inside the program."""


def configured(inference: Any, asked: Asked, purpose: Purpose = Purpose.SERVE) -> Any:
    """Make the configuration of a predictor.

    Args:
        inference: the module `paddle.inference`.
        asked: what is wanted.
        purpose: what it is for.

    Raises:
        AttributeError: this Paddle is too old for what is asked.
        Exception: whatever Paddle raises where it cannot do it.
    """
    config = inference.Config(*_files(asked))
    config.disable_glog_info()
    if asked.cache is not None:
        config.set_optim_cache_dir(str(asked.cache))
    if asked.program.format == "json":
        config.enable_new_ir(True)  # noqa: FBT003 - Paddle's signature
        config.enable_new_executor(True)  # noqa: FBT003 - the same
    if asked.memory_optim and purpose is Purpose.SERVE:
        config.enable_memory_optim()
    if asked.route.is_gpu:
        _on_gpu(inference, config, asked, purpose)
    else:
        _on_cpu(inference, config, asked)
    return config


def _files(asked: Asked) -> tuple[str, str]:
    """Program and parameters: the model's, or what the converter made of them."""
    if asked.route is Route.TENSORRT_CONVERT and asked.cache is not None:
        stem = asked.cache / CONVERTED
        return f"{stem}.json", f"{stem}.pdiparams"
    return asked.program.program_path, asked.program.params_path


def _on_cpu(inference: Any, config: Any, asked: Asked) -> None:
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(asked.threads)
    if asked.route is Route.CPU_OPENVINO:
        config.enable_openvino_engine(inference.PrecisionType.Float32)
    elif asked.route is Route.CPU_ONEDNN:
        config.enable_mkldnn()
        if asked.program.format == "json":
            config.delete_pass(_JSON_TRAP)
    else:
        config.disable_mkldnn()


def _on_gpu(inference: Any, config: Any, asked: Asked, purpose: Purpose) -> None:
    card = (asked.gpu.memory_pool_mb, asked.gpu.id)
    if asked.route is Route.GPU_PLAIN and asked.precision == "fp16":
        config.enable_use_gpu(*card, inference.PrecisionType.Half)
        return
    config.enable_use_gpu(*card)
    if asked.route is not Route.TENSORRT_ENGINE or asked.cache is None:
        return
    shapes = str(asked.cache / SHAPES_FILE)
    if purpose is Purpose.COLLECT:
        config.collect_shape_range_info(shapes)
        return
    largest = max((shape.largest[0] for shape in asked.shapes.values()), default=1)
    config.enable_tensorrt_engine(
        workspace_size=asked.tensorrt.workspace_mb * _MEGABYTE,
        max_batch_size=largest,
        min_subgraph_size=asked.tensorrt.min_subgraph_size,
        precision_mode=getattr(inference.PrecisionType, _PRECISIONS[asked.precision]),
        use_static=True,
        use_calib_mode=asked.is_calibrated,
    )
    # False: never build while parts wait; a batch outside the shapes is an error instead.
    config.enable_tuned_tensorrt_dynamic_shape(shapes, False)  # noqa: FBT003 - Paddle's signature
    if asked.tensorrt.fp32_ops:
        config.exp_disable_tensorrt_ops(list(asked.tensorrt.fp32_ops))


# ---------------------------------------------------------------- read back


def mismatches(config: Any, asked: Asked, purpose: Purpose = Purpose.SERVE) -> list[str]:
    """Say what the configuration is other than asked: `what: asked ..., got ...`; none: nothing.

    Flags first; then the summary, where this Paddle can give one (with TensorRT on it needs
    TensorRT's library).
    """
    wanted = _flags(asked, purpose)
    told = {name: _flag(config, name, wanted[name]) for name in wanted}
    rows, summary = _rows(asked, purpose), summary_of(config)
    wanted.update({f"summary {name}": value for name, value in rows.items()})
    told.update({f"summary {name}": summary.get(name, value) for name, value in rows.items()})
    return [
        f"{name}: asked {wanted[name]}, got {told[name]}"
        for name in wanted
        if told[name] != wanted[name]
    ]


def summary_of(config: Any) -> dict[str, str]:
    """Answer the table that Paddle prints of a configuration; empty where it cannot."""
    try:
        text = str(config.summary())
    except Exception:  # noqa: BLE001  Paddle raises what it likes; the flags have been read
        return {}
    rows = re.findall(r"^\| (\w+) +\| (.*?) +\|$", text, flags=re.MULTILINE)
    return {name: value.strip() for name, value in rows}


def _flags(asked: Asked, purpose: Purpose) -> dict[str, str]:
    """What the configuration must answer when it is asked flag by flag."""
    is_engine = asked.route is Route.TENSORRT_ENGINE and purpose is Purpose.SERVE
    flags = {
        "use_gpu": str(asked.route.is_gpu),
        "tensorrt_engine_enabled": str(is_engine),
        "prog_file": _files(asked)[0],
        "params_file": _files(asked)[1],
        "ir_optim": "True",
    }
    if asked.route.is_gpu:
        flags["gpu_device_id"] = str(asked.gpu.id)
        flags["memory_pool_init_size_mb"] = str(asked.gpu.memory_pool_mb)
    else:
        flags["mkldnn_enabled"] = str(asked.route is not Route.CPU_PLAIN)
        flags["openvino_engine_enabled"] = str(asked.route is Route.CPU_OPENVINO)
        flags["cpu_math_library_num_threads"] = str(asked.threads)
    if is_engine and asked.cache is not None:
        flags["tensorrt_precision_mode"] = f"Precision.{_PRECISIONS[asked.precision]}"
        flags["tuned_tensorrt_dynamic_shape"] = "True"
        flags["trt_allow_build_at_runtime"] = "False"
        flags["shape_range_info_path"] = str(asked.cache / SHAPES_FILE)
    if purpose is Purpose.COLLECT:
        flags["shape_range_info_collected"] = "True"
    return flags


def _rows(asked: Asked, purpose: Purpose) -> dict[str, str]:
    """What must stand in the summary."""
    rows = {
        "use_gpu": str(asked.route.is_gpu).lower(),
        "memory_optim": str(asked.memory_optim and purpose is Purpose.SERVE).lower(),
    }
    if asked.route is Route.GPU_PLAIN:
        rows["mixed_precision_mode"] = asked.precision
        rows["use_tensorrt"] = "false"
    return rows


def _flag(config: Any, name: str, wanted: str) -> str:
    """Ask one flag; a Paddle that does not know it has nothing of the kind switched on."""
    ask = getattr(config, name, None)
    if ask is not None:
        return str(ask())
    return "False" if wanted in {"True", "False"} else wanted
