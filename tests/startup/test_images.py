from __future__ import annotations

from typing import Any

import pytest

from unpend.startup.images import normal, size_of, sizes_in
from unpend.startup.stages import Interval


def exactly(size: float) -> Interval:
    return Interval(size, size, size)


MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": {"digest": "sha256:c", "size": 1_000},
    "layers": [{"digest": "sha256:a", "size": 30_000_000}, {"digest": "sha256:b", "size": 500}],
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("team/web:1", "docker.io/team/web:1"),
        ("index.docker.io/team/web:1", "docker.io/team/web:1"),
        ("localhost:5000/web", "localhost:5000/web:latest"),
        ("example.com/a/b@sha256:12", "example.com/a/b@sha256:12"),
        ("example.com:8080/a/b:2@sha256:12", "example.com:8080/a/b:2@sha256:12"),
    ],
)
def test_references_as_runtimes_keep_them(written: str, expected: str) -> None:
    assert normal(written) == expected


def test_a_manifest_is_the_sum_of_its_parts() -> None:
    assert sizes_in(MANIFEST, "*/web:*") == {"*/web:*": exactly(30_001_500)}
    named = {**MANIFEST, "annotations": {"org.opencontainers.image.ref.name": "example.com/web:1"}}
    assert sizes_in(named, "x") == {"example.com/web:1": exactly(30_001_500)}


def test_a_layout_is_read_through_its_blobs() -> None:
    small = {**MANIFEST, "layers": [{"size": 10_000_000}]}
    blobs: dict[str, Any] = {
        "sha256:index": {"manifests": [{"digest": "sha256:one"}, {"digest": "sha256:two"}, {"digest": "sha256:gone"}]},
        "sha256:one": MANIFEST,
        "sha256:two": small,
        "sha256:proof": MANIFEST,
    }
    layout = {
        "manifests": [
            {"digest": "sha256:index", "annotations": {"io.containerd.image.name": "example.com/web:1"}},
            {"digest": "sha256:proof", "annotations": {"vnd.docker.reference.type": "attestation-manifest"}},
        ]
    }
    found = sizes_in(layout, "*/layout:*", blobs.get)
    assert found == {"example.com/web:1": Interval(10_001_000, 30_001_500, 30_001_500)}
    assert sizes_in(layout, "x") == {}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"Ref": "example.com/web:1@sha256:ab", "OCIManifest": MANIFEST}, {"example.com/web:1": 30_001_500}),
        ([{"Ref": "a:1", "SchemaV2Manifest": MANIFEST}], {"a:1": 30_001_500}),
        ({"images": [{"repoTags": ["a:1", "a:2"], "size": "1200"}]}, {"a:1": 1200, "a:2": 1200}),
        ({"images": {"a:1": "350Mi", "b": 7, "c": True, "d": "?"}}, {"a:1": 350 * 2**20, "b": 7}),
        ({"kind": "Node", "status": {"images": [{"names": ["a:1"], "sizeBytes": 5}]}}, {"a:1": 5}),
        ({"items": [{"kind": "Node", "status": {"images": [{"names": ["a:1"], "sizeBytes": 5}]}}, 3]}, {"a:1": 5}),
    ],
)
def test_lists_of_images(data: Any, expected: dict[str, float]) -> None:
    assert sizes_in(data) == {name: exactly(size) for name, size in expected.items()}


@pytest.mark.parametrize("data", [{}, [], [3], "text", None, {"layers": "x"}, {"images": 3}, {"kind": "Pod"}])
def test_what_is_no_list_of_images(data: Any) -> None:
    with pytest.raises(ValueError, match="is no OCI layout"):
        sizes_in(data)


def test_the_nearest_entry_counts() -> None:
    sizes = {
        "example.com/*": exactly(1),
        "example.com/web": exactly(2),
        "example.com/web:1": exactly(3),
        "*/own:*": exactly(4),
    }
    assert size_of("example.com/web:1", sizes) == exactly(3)
    assert size_of("example.com/web:2", sizes) == exactly(2)
    assert size_of("example.com/other:2", sizes) == exactly(1)
    assert size_of("registry.example.org/own", sizes) == exactly(4)
    assert size_of("elsewhere.org/web", sizes) is None
    assert size_of("", sizes) is None
    assert size_of("docker.io/library/nginx:1", {"nginx:1": exactly(9)}) == exactly(9)
