"""What an object and its type hold, without running any of the program's code: a property, a metaclass or
a type that compares itself may do anything, and what it raises would reach the program."""
from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any

_dict_of = type.__dict__["__dict__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_module_of = type.__dict__["__module__"].__get__
_qualname_of = type.__dict__["__qualname__"].__get__


def ids(*kinds: type) -> frozenset[int]:
    """To ask whether a type is one of some, as comparing it may be up to the program: `id(kind) in IDS`."""
    return frozenset(map(id, kinds))


def bases(kind: type) -> Iterable[type]:
    """The type and those it derives from."""
    return _mro_of(kind)


def by_type(kind: type, name: str) -> Any:
    """What the type has under a name, as it stands there, or None."""
    for base in _mro_of(kind):
        own = _dict_of(base)
        if name in own:
            return own[name]
    return None


def module_of(kind: type) -> str:
    module = _module_of(kind)
    return module if type(module) is str else "?"


def type_name(kind: type) -> str:
    """module.Name"""
    name = _qualname_of(kind)
    return f"{module_of(kind)}.{name if type(name) is str else '?'}"


def attributes(value: Any) -> dict[str, Any]:
    """What is stored in the object itself; nothing where it keeps that elsewhere."""
    where = by_type(type(value), "__dict__")
    if type(where) is not types.GetSetDescriptorType:
        return {}
    stored = where.__get__(value, type(value))
    return stored if type(stored) is dict else {}
