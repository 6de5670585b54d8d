"""Labels, unknown things and offerings of the AWS catalogue (karpenter 10.4)."""

from datetime import date, datetime

import pytest

from unpend.algebra.values import absent, at_least, exists, none_of, one_of
from unpend.catalog.aws import FAMILY, GENERATION, INSTANCE, TENANCY, aws_catalog, region_of
from unpend.catalog.catalog import Zone, age_warning, named_zones
from unpend.catalog.index import bits
from unpend.catalog.profile import NodeProfile
from unpend.model.node_labels import ARCH, AWS_ZONE_ID, CAPACITY_TYPE, INSTANCE_TYPE, OS, REGION, WINDOWS_BUILD, ZONE

AWS = aws_catalog()


def labels(name: str, profile: NodeProfile | None = None) -> dict[str, tuple[str, ...]]:
    number = AWS.number(name)
    assert number is not None
    return dict(AWS.shapes(profile).type(number).labels)


def test_labels_of_a_type() -> None:
    found = labels("m5d.large")
    assert found[INSTANCE + "category"] == ("m",)
    assert found[GENERATION] == ("5",)
    assert found[FAMILY] == ("m5d",)
    assert found[INSTANCE + "size"] == ("large",)
    assert found[INSTANCE + "memory"] == ("8192",)
    assert found[INSTANCE + "local-nvme"] == ("75",)
    assert found[TENANCY] == ("default", "dedicated")
    assert found[OS] == ("linux",)
    assert INSTANCE + "gpu-name" not in found
    assert labels("u-6tb1.112xlarge")[INSTANCE + "category"] == ("u",)
    assert labels("u-6tb1.112xlarge")[GENERATION] == ("1",)
    assert labels("m5.metal")[INSTANCE + "hypervisor"] == ("",)
    assert INSTANCE + "local-nvme" not in labels("m5.large")
    assert labels("g5.xlarge")[INSTANCE + "gpu-name"] == ("a10g",)


def test_labels_depend_on_the_version_of_karpenter() -> None:
    old = labels("m7i-flex.large", NodeProfile(karpenter=(1, 6)))
    assert INSTANCE + "capability-flex" not in old
    assert TENANCY not in old
    assert labels("m7i-flex.large")[INSTANCE + "capability-flex"] == ("true",)


def test_windows_is_amd64_only() -> None:
    shapes = AWS.shapes(NodeProfile(ami_family="Windows2022"))
    assert shapes.may(OS, one_of(["windows"])) == shapes.may(ARCH, one_of(["amd64"]))
    assert shapes.may(OS, one_of(["linux"])) == 0
    assert shapes.may(WINDOWS_BUILD, one_of(["10.0.20348"])) == shapes.may(ARCH, one_of(["amd64"]))
    assert AWS.shapes().may(WINDOWS_BUILD, exists()) == 0


def test_what_the_catalogue_does_not_know_is_unknown() -> None:
    assert AWS.unknown(FAMILY, one_of(["m5", "m99g"])) == "instance-family m99g"
    assert AWS.unknown(FAMILY, one_of(["m5", "mac1"])) is None
    assert AWS.unknown(INSTANCE_TYPE, one_of(["m5.large"])) is None
    assert AWS.unknown(INSTANCE_TYPE, one_of(["m5.99xlarge"])) == "instance-type m5.99xlarge"
    assert AWS.unknown(INSTANCE_TYPE, one_of(["mac1.metal"])) is None
    assert AWS.unknown(GENERATION, at_least(5)) is None
    assert AWS.unknown(GENERATION, at_least(10)) == "instance-generation above 9"
    assert AWS.unknown(ARCH, one_of(["riscv64"])) is None
    assert AWS.unknown(INSTANCE + "hypervisor", one_of(["kvm"])) is None
    assert AWS.unknown("team", one_of(["a"])) is None
    assert AWS.unknown(FAMILY, none_of(["m5"])) is None
    assert AWS.knows("mac1.metal")
    assert not AWS.knows("m99g.large")
    assert AWS.knows_family("m5")
    assert not AWS.knows_family("m99g")


def test_offerings_are_by_zone_id() -> None:
    ids = AWS.zone_ids("us-east-1")
    assert len(ids) == 6
    assert all(one.startswith("use1-az") for one in ids)
    sure, possible = AWS.sold("us-east-1", Zone("us-east-1a", ids[0]))
    assert sure == possible != 0
    named_sure, named_possible = AWS.sold("us-east-1", Zone("us-east-1a"))
    for one in ids:
        exact, _ = AWS.sold("us-east-1", Zone(id=one))
        assert named_sure & ~exact == 0
        assert exact & ~named_possible == 0
    assert named_sure != named_possible
    assert AWS.sold(None, Zone("us-east-1a")) == AWS.sold("us-east-1", Zone("us-east-1a"))
    assert AWS.sold("us-east-1", Zone("us-east-1-bos-1a")) == (0, AWS.all)
    assert AWS.sold("xx-nowhere-1", Zone("xx-nowhere-1a")) == (0, AWS.all)
    assert AWS.sold("us-east-1", Zone("us-east-1a", "use1-az99")) == (0, AWS.all)


def test_regions_of_zones() -> None:
    assert region_of("eu-west-1a") == "eu-west-1"
    assert region_of("ap-southeast-2c") == "ap-southeast-2"
    assert region_of("us-gov-west-1a") == "us-gov-west-1"
    assert region_of("us-west-2-lax-1a") == "us-west-2"
    assert region_of("use1-az1") is None
    assert region_of("test-zone-1") is None


def test_zone_names_are_open_until_they_are_given() -> None:
    unnamed = AWS.shapes(region="eu-west-1")
    somewhere = one_of(["eu-west-1a"])
    assert unnamed.may(ZONE, somewhere) != 0
    assert unnamed.must(ZONE, somewhere) == 0
    assert unnamed.absent(ZONE) & unnamed.may(ZONE, exists()) == 0
    named = AWS.shapes(region="eu-west-1", zones=named_zones(["eu-west-1a"], {"eu-west-1a": "euw1-az3"}))
    assert named.may(ZONE, somewhere) == AWS.sold("eu-west-1", Zone(id="euw1-az3"))[0]
    assert named.may(ZONE, one_of(["eu-west-1b"])) == 0
    assert named.may(AWS_ZONE_ID, one_of(["euw1-az3"])) == named.may(ZONE, somewhere)
    assert named.may(REGION, one_of(["eu-west-1"])) == named.may(ZONE, exists())
    assert named.may(ZONE, absent()) & named.may(ZONE, exists()) == 0


def test_spot_and_prices() -> None:
    shapes = AWS.shapes(region="us-east-1", zones=[Zone("us-east-1a")])
    spot = shapes.may(CAPACITY_TYPE, one_of(["spot"]))
    assert spot & ~shapes.may(CAPACITY_TYPE, one_of(["on-demand"])) == 0
    assert spot != shapes.all
    assert AWS.price("m5.large", "us-east-1") == 0.096
    assert AWS.price("m5.large", "eu-west-1") is None
    assert AWS.price("m99.large", "us-east-1") is None
    number = AWS.number("m5.large")
    assert number is not None
    offerings = shapes.type(number).offerings
    assert {(one.capacity_type, one.price) for one in offerings} == {("on-demand", 0.096), ("spot", None)}


def test_subnets_come_before_the_configured_map() -> None:
    zones = named_zones(["a", "b", "a"], {"a": "1", "b": "2"}, [("a", "9")])
    assert zones == (Zone("a", "9"), Zone("b", "2"))


@pytest.mark.parametrize(
    ("now", "old"),
    [(None, False), (date(2026, 11, 29), False), (datetime(2027, 4, 25), False), (date(2027, 4, 26), True)],
)
def test_age(now: date | None, old: bool) -> None:
    text = age_warning(AWS, now)
    assert (text is not None) is old
    if text is not None:
        assert "2026-10-27" in text
        assert "181 days" in text


def test_every_region_has_zones_and_only_known_types() -> None:
    regions = AWS._data["offerings"]
    assert len(regions) == 30
    for region in regions:
        for one in AWS.zone_ids(region):
            sure, possible = AWS.sold(region, Zone(id=one))
            assert sure == possible
            assert 0 < sure <= AWS.all


def test_columns_have_one_value_per_type() -> None:
    assert len(set(AWS.names)) == len(AWS.names) > 1380
    assert all(len(column) == len(AWS.names) for column in AWS._columns.values())
    assert list(bits(0b1011)) == [0, 1, 3]
