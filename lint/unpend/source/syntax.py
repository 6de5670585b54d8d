"""PyYAML's libyaml parser, set up so that composing runs no Python code per node.

`CParser` calls three methods for every node that it composes. As C callables they cost next to nothing: `slice` stands
for a tag that was not written (its `step` is libyaml's implicit flags), a written tag stays a string. These hooks are
looked up by name and are no documented interface; `tests/source/test_syntax.py` pins them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

MAX_DEPTH = 256
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"

if TYPE_CHECKING:

    class _Base:
        def __init__(self, stream: str) -> None: ...
        def check_node(self) -> bool: ...
        def get_node(self) -> Any: ...
        def get_event(self) -> Any: ...

    HAS_LIBYAML: bool

else:
    try:
        from yaml._yaml import CParser as _Base

        HAS_LIBYAML = True
    except ImportError:
        HAS_LIBYAML = False
        from yaml.composer import Composer
        from yaml.parser import Parser
        from yaml.reader import Reader
        from yaml.resolver import Resolver
        from yaml.scanner import Scanner

        class _Base(Reader, Scanner, Parser, Composer, Resolver):
            """The same interface from the parser in pure Python: slower by a factor of ten."""

            def __init__(self, stream: str) -> None:
                Reader.__init__(self, stream)
                Scanner.__init__(self)
                Parser.__init__(self)
                Composer.__init__(self)
                Resolver.__init__(self)


class FastParser(_Base):
    """`get_node` for plain documents. Only with libyaml: in pure Python the hooks are other methods."""

    resolve = slice
    descend_resolver = staticmethod(slice)
    ascend_resolver = staticmethod(bool)


class EventParser(_Base):
    """`get_event`, with libyaml or without."""


class Problem(Exception):  # noqa: N818 - never shown as an exception, always turned into a trouble
    """A text that is no YAML document as Kubernetes reads it; `index` counts code points in that text."""

    def __init__(self, message: str, index: int, end: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.index = index
        self.end = index if end is None else end


def problem_of(error: yaml.YAMLError, text: str) -> Problem:
    """What PyYAML says, in one sentence with the place where it gave up."""
    if isinstance(error, yaml.reader.ReaderError):
        return Problem(f"not valid YAML: {error.reason}", _reader_index(error, text))
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        last = max(len(text.rstrip()) - 1, 0)
        if error.context_mark and mark and mark.index > last:
            mark = error.context_mark  # where something begins that is not closed says more than the end of the text
        index = min(mark.index if mark else 0, last)
        if text.startswith("\t", index):
            return Problem("not valid YAML: a tab cannot indent, use spaces", index, index + 1)
        if "nesting depth" in (error.problem or ""):
            return Problem(TOO_DEEP, index)
        said = error.problem or error.context or "not a document"
        context = f" ({error.context})" if error.context and error.problem else ""
        return Problem(f"not valid YAML: {said}{context}", index)
    return Problem(f"not valid YAML: {error}", 0)


def _reader_index(error: yaml.reader.ReaderError, text: str) -> int:
    """libyaml counts bytes there, and the pure parser characters of its buffer: look for the character itself."""
    if isinstance(error.character, int):
        found = text.find(chr(error.character))
        if found >= 0:
            return found
    return min(error.position or 0, len(text))
