"""`dataclass`, `field` and `replace` for the classes that every run creates.

Type checkers see the ones of the standard library. At run time the same names are a part of them (`frozen`, `slots`,
`eq`; fields with a default, `init`, `compare`, `repr`, `kw_only`; `__post_init__`) that makes a class in a tenth of
the time: the standard library compiles half a dozen functions for each class, and imports `inspect` to do it. Here
`__init__` is compiled when the first instance is made, and all else is shared by all classes. What `dataclasses` itself
asks of an instance or a class (`fields`, `replace`, `asdict`, `is_dataclass`) works, and is paid by who asks.

No inheritance between such classes: a base class with fields is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from operator import attrgetter

    _NOTHING = object()
    """Stands for "no default", and for a value that a factory has to make."""

    class _Field:
        __slots__ = ("compare", "default", "factory", "init", "kw_only", "name", "repr")

        def __init__(self, default, factory, init, compare, repr, kw_only):
            self.name = ""
            self.default = default
            self.factory = factory
            self.init = init
            self.compare = compare
            self.repr = repr
            self.kw_only = kw_only

    def field(*, default=_NOTHING, default_factory=None, init=True, compare=True, repr=True, kw_only=False):
        """Options of one field, as `dataclasses.field` takes them."""
        return _Field(default, default_factory, init, compare, repr, kw_only)

    def dataclass(*, frozen=False, slots=False, eq=True):
        """Make a class with annotations a record, as `dataclasses.dataclass` does."""

        def decorate(cls):
            return _record(cls, frozen, slots, eq)

        return decorate

    def replace(record, /, **changes):
        """A copy of a record (or of a dataclass of the standard library) with other values for some fields."""
        fields = getattr(record, "_record_fields", None)
        if fields is None:
            import dataclasses

            return dataclasses.replace(record, **changes)
        for name, made in fields.items():
            if made.init and name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)

    def _record(cls, frozen, slots, eq):
        if any(hasattr(base, "_record_fields") for base in cls.__bases__):
            raise TypeError(f"{cls.__name__}: records do not inherit from records")
        namespace = dict(cls.__dict__)
        fields = {}
        for name, annotation in namespace.get("__annotations__", {}).items():
            if annotation.startswith("ClassVar"):
                continue
            made = namespace.pop(name, _NOTHING)
            if made.__class__ is not _Field:
                made = _Field(made, None, True, True, True, False)
            made.name = name
            fields[name] = made
        namespace["_record_fields"] = fields
        namespace["__dataclass_fields__"] = _STANDARD_FIELDS
        namespace["__init__"] = _first_init
        namespace["__match_args__"] = tuple(name for name, made in fields.items() if made.init and not made.kw_only)
        namespace.setdefault("__repr__", _repr)
        if eq:
            namespace["_compared"] = _getter(tuple(name for name, made in fields.items() if made.compare))
            namespace.setdefault("__eq__", _eq)
            if not frozen:
                namespace.setdefault("__hash__", None)
            elif namespace.get("__hash__") is None:
                namespace["__hash__"] = _hash
        if frozen:
            namespace["__setattr__"] = _refuse
            namespace["__delattr__"] = _refuse
        if slots:
            namespace["__slots__"] = tuple(fields)
            if frozen:
                namespace["__getstate__"] = _getstate
                namespace["__setstate__"] = _setstate
        namespace.pop("__dict__", None)
        namespace.pop("__weakref__", None)
        return type(cls)(cls.__name__, cls.__bases__, namespace)

    def _getter(names):
        if names:
            return attrgetter(*names)
        return _no_fields

    def _no_fields(_record):
        return ()

    def _eq(self, other):
        if self is other:
            return True
        kind = self.__class__
        if other.__class__ is not kind:
            return NotImplemented
        get = kind._compared
        return get(self) == get(other)

    def _hash(self):
        return hash(self.__class__._compared(self))

    def _repr(self):
        parts = (f"{name}={getattr(self, name)!r}" for name, made in self._record_fields.items() if made.repr)
        return f"{self.__class__.__qualname__}({', '.join(parts)})"

    def _refuse(self, name, *_value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")

    def _getstate(self):
        return [getattr(self, name) for name in self._record_fields]

    def _setstate(self, state):
        for name, value in zip(self._record_fields, state, strict=True):
            object.__setattr__(self, name, value)

    def _first_init(self, *positional, **named):
        """Stands in for `__init__` until the first instance is made."""
        cls = next(c for c in self.__class__.__mro__ if "_record_fields" in c.__dict__)
        cls.__init__ = init = _compile_init(cls)
        init(self, *positional, **named)

    def _compile_init(cls):
        names = {"_nothing": _NOTHING}
        frozen = cls.__setattr__ is _refuse
        plain, keywords, body = [], [], []
        for name, made in cls._record_fields.items():
            value = name
            parameter = name
            if made.factory is not None:
                names[f"_make_{name}"] = made.factory
                parameter = f"{name}=_nothing"
                value = f"_make_{name}() if {name} is _nothing else {name}" if made.init else f"_make_{name}()"
            elif made.default is not _NOTHING:
                names[f"_default_{name}"] = made.default
                parameter = f"{name}=_default_{name}"
                value = name if made.init else f"_default_{name}"
            elif not made.init:
                continue
            if made.init:
                (keywords if made.kw_only else plain).append(parameter)
            if not frozen:
                body.append(f" self.{name} = {value}")
            elif name in cls.__dict__:
                # A slot sets itself, whatever `__setattr__` says.
                names[f"_set_{name}"] = cls.__dict__[name].__set__
                body.append(f" _set_{name}(self, {value})")
            else:
                names["_set"] = object.__setattr__
                body.append(f" _set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            body.append(" self.__post_init__()")
        parameters = ["self", *plain, *(["*", *keywords] if keywords else [])]
        exec(f"def __init__({', '.join(parameters)}):\n" + ("\n".join(body) or " pass"), names)
        made = names["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    class _StandardFields:
        """`__dataclass_fields__` as the standard library wants it, made when somebody asks."""

        def __get__(self, _record, cls):
            import dataclasses

            found = {}
            for name, made in cls._record_fields.items():
                default = dataclasses.MISSING if made.default is _NOTHING else made.default
                found[name] = one = dataclasses.field(
                    default=default,
                    default_factory=dataclasses.MISSING if made.factory is None else made.factory,
                    init=made.init,
                    compare=made.compare,
                    repr=made.repr,
                    kw_only=made.kw_only,
                )
                one.name = name
                one.type = cls.__annotations__[name]
                one._field_type = dataclasses._FIELD
            return found

    _STANDARD_FIELDS = _StandardFields()
