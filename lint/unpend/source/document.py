"""Sources, documents and objects: what was read, before anything is known about its kind."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from unpend.records import dataclass, field
from unpend.source.place import Location, Origin, Part, Place, Position, Span, Step

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Suppression:
    """A comment `# unpend: ignore[rule-a, topic/*] -- reason` and the lines that it covers (zero-based, inclusive)."""

    rules: tuple[str, ...]
    reason: str
    span: Span
    first_line: int
    last_line: int
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong with a text itself; `kind` says what.

    `yaml-syntax`, `unreadable`, `suppression`, `chart` (a Helm chart that does not render) or `notice`.
    """

    kind: Literal["yaml-syntax", "unreadable", "suppression", "notice", "chart"]
    severity: Severity
    message: str
    uri: str
    span: Span | None = None
    document: int = 0


Style = Literal["plain", "single", "double", "literal", "folded", "block", "flow", "alias"]


class Locator(Protocol):
    """Finds the span of a path in the text of its document, and how the value there is written."""

    def __call__(self, path: tuple[Step, ...], part: Part, /) -> Span | None:
        """The span of a path, or of its nearest existing parent; None when the text cannot be composed."""

    def style(self, path: tuple[Step, ...], /) -> Style | None:
        """How the value is written; None when the path does not exist."""

    def tag(self, path: tuple[Step, ...], /) -> str | None:
        """The tag written on the value, such as `!Ref`; None when there is none."""


class Origins(Protocol):
    """Finds the place in a template, or in another file, that a line of a rendered document was made from."""

    def find(self, document: Document, line: int, /) -> Origin | None:
        """The origin of a zero-based line of the source; `document.origin` when no more is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One YAML or JSON document: plain data, and a function that finds the span of any path in it.

    `locator` works on demand (the text is composed again when the nodes were dropped) and answers for a path that does
    not exist with the span of its nearest existing parent. `origin` is what the rendered text itself says of where it
    comes from, `origins` knows more.
    """

    uri: str
    index: int
    data: Any
    locator: Locator | None = None
    origin: Origin | None = None
    suppressions: tuple[Suppression, ...] = ()
    duplicate_keys: tuple[tuple[tuple[Step, ...], Span], ...] = ()
    text: str = ""
    first_line: int = 0
    origins: Origins | None = None

    def origin_at(self, line: int) -> Origin | None:
        """Where a zero-based line of the source was rendered from; None when it was written as it is."""
        if self.origin is None or self.origins is None:
            return self.origin
        return self.origins.find(self, line)

    def locate(self, path: tuple[Step, ...], part: Part = "value") -> Location | None:
        """The location of a path of this document; None when the document came without a text."""
        if self.locator is None:
            return None
        span = self.locator(path, part)
        if span is None:
            span = Span(Position(self.first_line, 0), Position(self.first_line, 0))
        return Location(self.uri, self.index, span, self.origin_at(span.start.line))

    def style(self, path: tuple[Step, ...]) -> Style | None:
        """How the value at a path is written: `plain` or quoted for scalars, `block` or `flow` for collections.

        None when there is no such path, or no text.
        """
        return None if self.locator is None else self.locator.style(path)

    def tag(self, path: tuple[Step, ...]) -> str | None:
        """The tag written on the value at a path, such as `!Ref`, which Kubernetes' tools read over; None without."""
        return None if self.locator is None else self.locator.tag(path)


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """One Kubernetes-style object: a document, or one item of a `List` inside it (then `prefix` leads there).

    `form` is the apiVersion and kind that we give to a document of another tool, which has none of its own.
    """

    document: Document
    data: dict[str, Any]
    prefix: tuple[Step, ...] = ()
    form: tuple[str, str] | None = None
    root: Place = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Place(self))

    def locate(self, path: tuple[Step, ...], part: Part = "value") -> Location | None:
        """See `Document.locate`; `path` starts at the root of this object."""
        return self.document.locate(self.prefix + path, part)

    def style(self, path: tuple[Step, ...]) -> Style | None:
        """See `Document.style`; `path` starts at the root of this object."""
        return self.document.style(self.prefix + path)

    def tag(self, path: tuple[Step, ...]) -> str | None:
        """See `Document.tag`; `path` starts at the root of this object."""
        return self.document.tag(self.prefix + path)

    @property
    def api_version(self) -> str:
        """`apiVersion`, or an empty string when it is absent or not a string."""
        if self.form is not None:
            return self.form[0]
        value = self.data.get("apiVersion")
        return value if isinstance(value, str) else ""

    @property
    def kind(self) -> str:
        """`kind`, or an empty string when it is absent or not a string."""
        if self.form is not None:
            return self.form[1]
        value = self.data.get("kind")
        return value if isinstance(value, str) else ""

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The API version inside the group, such as `v1`."""
        return self.api_version.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that reading one or more sources gave: in reading order."""

    documents: tuple[Document, ...] = ()
    objects: tuple[Object, ...] = ()
    troubles: tuple[Trouble, ...] = ()


def objects_of(data: list[dict[str, Any]]) -> tuple[Object, ...]:
    """Plain dicts, as an API client hands them over, as objects without a text; `List` items become own objects."""
    found: list[Object] = []
    for index, item in enumerate(data):
        document = Document(uri="", index=index, data=item)
        found.extend(unwrap(document))
    return tuple(found)


def unwrap(document: Document) -> list[Object]:
    """The objects of a document: itself, or the items of a `List` / `*List` (nested lists too).

    Anything that is not a mapping with string `apiVersion` and `kind` is no object, except for the documents of other
    tools that `form_of` knows, and for items of a `NodeList` and the like, which the API sends without a kind.
    """
    found: list[Object] = []
    pending: list[tuple[Any, tuple[Step, ...], tuple[str, str] | None]] = [(document.data, (), None)]
    while pending:
        data, prefix, of_list = pending.pop()
        if not isinstance(data, dict):
            continue
        kind = data.get("kind")
        items = data.get("items")
        if not (isinstance(data.get("apiVersion"), str) and isinstance(kind, str)):
            form = (of_list if "kind" not in data else None) if prefix else form_of(data)
            if form is not None:
                found.append(Object(document, data, prefix, form))
            continue
        if kind.endswith("List") and isinstance(items, list):
            of_list = (data["apiVersion"], kind[:-4]) if kind != "List" else None
            pending.extend((item, (*prefix, "items", i), of_list) for i, item in reversed(list(enumerate(items))))
        else:
            found.append(Object(document, data, prefix))
    return found


TERRAFORM = ("terraform.io/v1", "TerraformState")
CLOUD_FORMATION = ("cloudformation.amazonaws.com/v1", "Template")


def form_of(data: dict[str, Any]) -> tuple[str, str] | None:
    """Which tool wrote a document without apiVersion and kind, told by its shape; None for what is not ours to read.

    `terraform show -json` of a plan or a state, and CloudFormation templates: both can declare node groups.
    """
    if isinstance(data.get("format_version"), str) and ("planned_values" in data or "values" in data):
        return TERRAFORM
    resources = data.get("Resources")
    if isinstance(resources, dict) and any(_is_aws(one) for one in resources.values()):
        return CLOUD_FORMATION
    return None


def _is_aws(resource: Any) -> bool:
    kind = resource.get("Type") if isinstance(resource, dict) else None
    return isinstance(kind, str) and kind.startswith("AWS::")
