"""The shapes of the schema, derived from its dataclasses."""

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from inspectd.config.groups import Fixed, Group, Key, ListOf, Maybe, OneOf
from inspectd.config.schema import Line
from inspectd.config.shapes import Choice, Limits, Number, Shape, Text, Truth, Whole

__all__ = ["group_of", "line_shape"]


@functools.cache
def line_shape() -> Group:
    """Answer what a station file may say."""
    return group_of(Line)


def group_of(cls: type[Any]) -> Group:
    """Answer the shape of one dataclass of the schema."""
    hints = typing.get_type_hints(cls)
    inherited = {one.name for base in cls.__bases__ if base is not object for one in _fields(base)}
    own_first = sorted(_fields(cls), key=lambda one: one.name in inherited)
    return Group(cls, tuple(_key(one, hints[one.name]) for one in own_first))


def _fields(cls: type[Any]) -> "tuple[dataclasses.Field[Any], ...]":
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _key(one: "dataclasses.Field[Any]", annotation: Any) -> Key:
    is_needed = one.default is dataclasses.MISSING
    metadata = {**one.metadata, "is_needed": is_needed or one.metadata.get("nonempty", False)}
    return Key(
        one.name,
        _shape(annotation, metadata),
        is_needed=is_needed,
        default=None if is_needed else one.default,
        is_by_loader=one.metadata.get("by_loader", False),
    )


def _shape(annotation: Any, metadata: Mapping[str, Any]) -> Shape:
    origin = get_origin(annotation)
    if origin is Union or origin is types.UnionType:
        return _either(get_args(annotation), metadata)
    if origin is Literal:
        return Choice(get_args(annotation))
    if origin is tuple:
        return _tuple(get_args(annotation), metadata)
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _one_of((annotation,)) if _kind(annotation) else group_of(annotation)
    return _leaf(annotation, metadata)


def _leaf(annotation: Any, metadata: Mapping[str, Any]) -> Shape:
    limits = Limits(*(metadata.get(name) for name in ("ge", "gt", "le")))
    if annotation is str:
        return Text(
            is_needed=metadata.get("is_needed", False),
            is_path=metadata.get("is_path", False),
            is_name=metadata.get("is_name", False),
        )
    leaves: dict[Any, Shape] = {int: Whole(limits), float: Number(limits), bool: Truth()}
    if annotation not in leaves:
        raise TypeError(f"the schema has a key of type {annotation!r}, which the loader can't read")
    return leaves[annotation]


def _either(members: tuple[Any, ...], metadata: Mapping[str, Any]) -> Shape:
    some = tuple(one for one in members if one is not type(None))
    inner = _shape(some[0], metadata) if len(some) == 1 else _one_of(some)
    return Maybe(inner) if len(some) < len(members) else inner


def _tuple(members: tuple[Any, ...], metadata: Mapping[str, Any]) -> Shape:
    if len(members) == 2 and members[1] is ...:  # noqa: PLR2004  tuple[X, ...]
        return ListOf(_shape(members[0], {"is_needed": True}), metadata.get("nonempty", False))
    return Fixed(tuple(_shape(one, {}) for one in members))


def _one_of(classes: tuple[type[Any], ...]) -> OneOf:
    return OneOf(tuple((_kind(cls), group_of(cls)) for cls in classes))


def _kind(cls: type[Any]) -> str:
    """Answer the value of `kind` that stands for a class; empty when it is no variant."""
    annotation = typing.get_type_hints(cls).get("kind")
    return str(get_args(annotation)[0]) if annotation is not None else ""
