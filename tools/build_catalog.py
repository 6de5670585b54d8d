"""Builds the compact, dated AWS and Azure catalogues of the wheel from public data.

    python tools/build_catalog.py            write schemas/unpend_schemas/data/catalog/*.json
    python tools/build_catalog.py --check    fail if the files differ from what would be written

Instance types and offerings come from the Python package moto (Apache-2.0), which carries a whole DescribeInstanceTypes
answer and, per region, which zone ID offers which type. Prices, Azure sizes and the rules for branch interfaces are in
`tools/catalog_sources/`, each with its date and source. moto is needed to run this script only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tools" / "catalog_sources"
TARGET = ROOT / "schemas" / "unpend_schemas" / "data" / "catalog"

MOTO = "5.2.5"
MOTO_DATE = "2026-10-27"
"""The day on which that moto release was packed; its data is as old."""
PRICES_DATE = "2026-07-31"
AZURE_DATE = "2026-08-31"

Info = Mapping[str, Any]

_NAME = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.")
_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


def kebab(text: str) -> str:
    """The form in which Karpenter writes names of devices and manufacturers into labels."""
    return text.lower().replace(" ", "-")


def architecture(info: Info) -> str | None:
    """amd64 or arm64; None for what Karpenter never offers (Macs)."""
    known = [_ARCHITECTURES[a] for a in info["ProcessorInfo"]["SupportedArchitectures"] if a in _ARCHITECTURES]
    return known[0] if known and "hvm" in info["SupportedVirtualizationTypes"] else None


def network_bandwidth(info: Info) -> int | None:
    """Mbit/s that a type has at all times, as AWS documents it: None where AWS only says "Moderate".

    The documented number is the named performance where that is a plain number, else the baseline ("Up to …").
    """
    named = info["NetworkInfo"]["NetworkPerformance"]
    cards = info["NetworkInfo"]["NetworkCards"]
    if "Gigabit" not in named:
        return None
    plain = re.fullmatch(r"(?:(\d+)x )?([\d.]+) Gigabit", named)
    gigabits = int(plain[1] or 1) * float(plain[2]) if plain else sum(c["BaselineBandwidthInGbps"] for c in cards)
    return int(gigabits * 1000 + 1e-6)


def ebs_bandwidth(info: Info) -> int | None:
    """Mbit/s to block storage; only types that are optimized for it by default have the label."""
    ebs = info["EbsInfo"]
    if ebs.get("EbsOptimizedSupport") != "default":
        return None
    return int(ebs["EbsOptimizedInfo"]["MaximumBandwidthInMbps"])


def local_nvme(info: Info) -> int | None:
    """GB of local NVMe disks, decimal; None without."""
    storage = info.get("InstanceStorageInfo")
    if not storage or storage.get("NvmeSupport") == "unsupported":
        return None
    return int(storage["TotalSizeInGB"])


def devices(info: Info) -> dict[str, int]:
    """Extended resources of a type, by resource name; a fraction of a GPU counts 0 (M-8)."""
    found: dict[str, int] = {}
    vendors = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "habana": "habana.ai/gaudi"}
    for gpu in info.get("GpuInfo", {}).get("Gpus", ()):
        name = vendors.get(kebab(gpu["Manufacturer"]))
        if name:
            found[name] = found.get(name, 0) + gpu["Count"]
    for neuron in info.get("NeuronInfo", {}).get("NeuronDevices", ()):
        found["aws.amazon.com/neuron"] = found.get("aws.amazon.com/neuron", 0) + neuron["Count"]
        cores = neuron["Count"] * neuron["CoreInfo"]["Count"]
        found["aws.amazon.com/neuroncore"] = found.get("aws.amazon.com/neuroncore", 0) + cores
    efa = info["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    if efa:
        found["vpc.amazonaws.com/efa"] = efa
    return {name: count for name, count in found.items() if count}


def gpu(info: Info) -> tuple[str, str, int, int] | None:
    """Name, manufacturer, count and MiB of one GPU; None without, or with GPUs of several kinds."""
    gpus = info.get("GpuInfo", {}).get("Gpus", ())
    if len(gpus) != 1 or kebab(gpus[0]["Manufacturer"]) not in ("nvidia", "amd"):
        return None
    one = gpus[0]
    return kebab(one["Name"]), kebab(one["Manufacturer"]), one["Count"], one["MemoryInfo"]["SizeInMiB"]


def accelerator(info: Info) -> tuple[str, str, int] | None:
    """Name, manufacturer and count of the inference or training chips."""
    inference = info.get("InferenceAcceleratorInfo", {}).get("Accelerators", ())
    if len(inference) == 1:
        one = inference[0]
        return kebab(one["Name"]), kebab(one["Manufacturer"]), one["Count"]
    neuron = info.get("NeuronInfo", {}).get("NeuronDevices", ())
    if len(neuron) == 1:
        return kebab(neuron[0]["Name"]), "aws", neuron[0]["Count"]
    return None


def branch_interfaces(name: str, info: Info, rules: Mapping[str, Any]) -> tuple[int, int]:
    """The least and the most branch interfaces that the VPC resource controller may have for a type (M-8)."""
    family = name.split(".")[0]
    if name in rules["types"]:
        return rules["types"][name], rules["types"][name]
    if info.get("Hypervisor") == "xen" or family in rules["none"]["families"] or name in rules["none"]["types"]:
        return 0, 0
    cpu = info["VCpuInfo"]["DefaultVCpus"]
    budget = max(value for size, value in rules["budget"].items() if int(size) <= cpu)
    parsed = _NAME.match(name)
    newer = parsed is not None and int(parsed[2]) >= 6 and info["ProcessorInfo"]["Manufacturer"] in ("Intel", "AMD")
    if newer:
        budget = rules["newerX86Budget"].get(str(cpu), budget)
    if "-flex" in family:
        budget = rules["flexBudget"].get(str(cpu), budget)
    interfaces = info["NetworkInfo"]["MaximumNetworkInterfaces"]
    if interfaces >= rules["manyInterfacesBudget"]["atLeast"]:
        budget = rules["manyInterfacesBudget"]["budget"]
    branches = max(budget - interfaces, 0)
    unlisted = family in rules["notYetListed"]["families"] or name in rules["notYetListed"]["types"]
    return 0 if unlisted else branches, branches


def default_card(info: Info) -> Mapping[str, Any]:
    """The network card that the VPC CNI hands out addresses of."""
    network = info["NetworkInfo"]
    card: Mapping[str, Any] = network["NetworkCards"][network.get("DefaultNetworkCardIndex", 0)]
    return card


def columns(infos: list[tuple[str, Info]], rules: Mapping[str, Any]) -> dict[str, list[Any]]:
    """One list per fact, all as long as the list of names."""

    def column(get: Callable[[Info], Any]) -> list[Any]:
        return [get(info) for _, info in infos]

    branches = [branch_interfaces(name, info, rules) for name, info in infos]
    return {
        "arch": column(architecture),
        "vcpu": column(lambda i: i["VCpuInfo"]["DefaultVCpus"]),
        "memoryMiB": column(lambda i: i["MemoryInfo"]["SizeInMiB"]),
        "interfaces": column(lambda i: default_card(i)["MaximumNetworkInterfaces"]),
        "ipv4PerInterface": column(lambda i: i["NetworkInfo"]["Ipv4AddressesPerInterface"]),
        "branches": [low for low, _ in branches],
        "branchesAtMost": [high for _, high in branches],
        "cpuManufacturer": column(lambda i: kebab(i["ProcessorInfo"]["Manufacturer"])),
        "clockMHz": column(lambda i: round(i["ProcessorInfo"].get("SustainedClockSpeedInGhz", 0) * 1000)),
        "hypervisor": column(lambda i: i.get("Hypervisor", "")),
        "encryption": column(lambda i: int(bool(i["NetworkInfo"].get("EncryptionInTransitSupported")))),
        "ebsMbps": column(ebs_bandwidth),
        "networkMbps": column(network_bandwidth),
        "localNvmeGB": column(local_nvme),
        "spot": column(lambda i: int("spot" in i["SupportedUsageClasses"])),
        "bareMetal": column(lambda i: int(i["BareMetal"])),
    }


def sparse(infos: list[tuple[str, Info]], get: Callable[[Info], Any]) -> dict[str, Any]:
    """Name → fact, for facts that few types have."""
    found = ((name, get(info)) for name, info in infos)
    return {name: value for name, value in found if value}


def offerings(names: Iterable[str], folder: Path) -> dict[str, dict[str, str]]:
    """Region → zone ID → the types that it sells, as a hexadecimal number with one bit a type (bit 0: first name)."""
    number = {name: position for position, name in enumerate(names)}
    regions: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*.json.gz")):
        zones: dict[str, int] = {}
        for row in json.loads(gzip.decompress(file.read_bytes())):
            if row["InstanceType"] in number:
                zone = row["Location"]
                zones[zone] = zones.get(zone, 0) | 1 << number[row["InstanceType"]]
        regions[file.name.removesuffix(".json.gz")] = {zone: f"{zones[zone]:x}" for zone in sorted(zones)}
    return regions


def aws(resources: Path) -> dict[str, Any]:
    """The AWS catalogue."""
    everything: dict[str, Info] = json.loads(gzip.decompress((resources / "instance_types.json.gz").read_bytes()))
    infos = sorted((name, info) for name, info in everything.items() if architecture(info))
    names = [name for name, _ in infos]
    rules = json.loads((SOURCES / "branch-interfaces.json").read_text(encoding="utf-8"))
    prices = json.loads(gzip.decompress((SOURCES / "aws-on-demand-prices.json.gz").read_bytes()))["prices"]
    return {
        "format": 1,
        "provider": "aws",
        "date": MOTO_DATE,
        "source": f"DescribeInstanceTypes and DescribeInstanceTypeOfferings as carried by moto {MOTO} (Apache-2.0)",
        "notOffered": sorted(name for name, info in everything.items() if not architecture(info)),
        "names": names,
        "columns": columns(infos, rules),
        "devices": sparse(infos, devices),
        "gpus": sparse(infos, gpu),
        "accelerators": sparse(infos, accelerator),
        "offerings": offerings(names, resources / "instance_type_offerings" / "availability-zone-id"),
        "prices": {
            "date": PRICES_DATE,
            "source": "on-demand Linux prices, USD an hour, as carried by Karpenter's AWS provider (July 2026)",
            "regions": {region: [table.get(name) for name in names] for region, table in sorted(prices.items())},
        },
    }


def azure() -> dict[str, Any]:
    """The Azure sizes, for node groups and for NodePools on AKS."""
    table = json.loads(gzip.decompress((SOURCES / "azure-vm-sizes.json.gz").read_bytes()))["types"]
    names = sorted(table)
    return {
        "format": 1,
        "provider": "azure",
        "date": AZURE_DATE,
        "source": "VM sizes as carried by Cluster Autoscaler for scale-up from zero (August 2026)",
        "names": names,
        "columns": {
            key: [table[name][key] for name in names] for key in ("arch", "vcpu", "memoryMiB", "gpu", "family")
        },
    }


def render(catalog: Mapping[str, Any]) -> str:
    """Compact JSON, one line per top-level key and column, so that a change is readable in a diff."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=True)

    lines = []
    for key, value in catalog.items():
        if key in ("columns", "offerings"):
            inner = ",\n".join(f" {compact(name)}:{compact(part)}" for name, part in value.items())
            lines.append(f'"{key}":{{\n{inner}}}')
        else:
            lines.append(f"{compact(key)}:{compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def moto_resources() -> Path:
    """The folder of moto's data; stops with a clear message when it is another release than the one that is dated."""
    distribution = metadata.distribution("moto")
    if distribution.version != MOTO:
        sys.exit(f"moto {distribution.version} is installed, but the dates here are those of {MOTO}")
    return Path(str(distribution.locate_file("moto/ec2/resources")))


def packed_size(files: Iterable[Path]) -> int:
    """Bytes that the files take in a wheel."""
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    return len(buffer.getvalue())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args().check
    stale = 0
    files = []
    for name, catalog in (("aws.json", aws(moto_resources())), ("azure.json", azure())):
        target = TARGET / name
        text = render(catalog)
        files.append(target)
        if check:
            same = target.exists() and target.read_text(encoding="utf-8") == text
            stale += not same
            print(f"{target.relative_to(ROOT)}: {'as generated' if same else 'differs from what would be generated'}")
        else:
            target.write_text(text, encoding="utf-8")
            print(f"{target.relative_to(ROOT)}: {len(catalog['names'])} types, {len(text):,} bytes")
    if not check:
        print(f"in the wheel: {packed_size(files):,} bytes")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
