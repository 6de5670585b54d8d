"""LimitRange admission (`kube-scheduler.md` §2.3): defaults first, then every check of every item."""

from __future__ import annotations

from unpend.algebra.quantity import render
from unpend.model.admission_findings import AdmissionFindings
from unpend.model.inventory import Inventory, LimitRangeItem, Workload
from unpend.model.pod import Amount, Container, PodSpec, Refusal, Resources, changed
from unpend.model.requests import aggregate, aggregate_limits
from unpend.records import replace
from unpend.source.place import Place


def apply_limit_ranges(spec: PodSpec, namespace: str, inventory: Inventory, found: AdmissionFindings) -> PodSpec:
    """The spec with limits and requests that the LimitRanges of its namespace add (A-222), checked (A-223 to A-226)."""
    if not inventory.limit_ranges:
        return spec
    items = [item for limits in inventory.limit_ranges if limits.namespace == namespace for item in limits.items]
    if not items:
        return spec
    of_containers = [item for item in items if item.kind == "Container"]
    if of_containers:
        limits, requests = _defaults(of_containers, spec, found)
        spec = changed(
            spec,
            containers=tuple(_filled(c, limits, requests) for c in spec.containers),
            init_containers=tuple(_filled(c, limits, requests) for c in spec.init_containers),
        )
    for container in (*spec.containers, *spec.init_containers):
        _check_request_against_limit(container, found)
        for item in of_containers:
            _check(f'container "{container.name}"', container.requests, container.limits, container.place, item, found)
    for item in items:
        if item.kind == "Pod":
            _check_pod(spec, item, found)
    return spec


def claim_refusals(workload: Workload, inventory: Inventory) -> tuple[Refusal, ...]:
    """Claim templates whose claims the LimitRanges of the namespace refuse: their pods are never made (A-225)."""
    found = AdmissionFindings()
    for limits in inventory.limit_ranges:
        if limits.namespace != workload.namespace:
            continue
        for item in limits.items:
            if item.kind != "PersistentVolumeClaim":
                continue
            for claim in workload.claim_templates:
                least, most = item.minimum.get("storage"), item.maximum.get("storage")
                who = f'the claim "{claim.name}"'
                if claim.request is None:
                    continue
                if least is not None and claim.request.milli < least.milli:
                    what = f"requests {claim.request.text} of storage, less than {least.text}"
                    _refuse(who, what, claim.request.place, least, found, "scheduler:A-225")
                if most is not None and claim.request.milli > most.milli:
                    what = f"requests {claim.request.text} of storage, more than {most.text}"
                    _refuse(who, what, claim.request.place, most, found, "scheduler:A-225")
    return tuple(found.refusals)


def self_defaulted(item: LimitRangeItem) -> tuple[Resources, Resources]:
    """Default limits and default requests of an item after its own defaulting, in the order of A-221."""
    limits = {**item.maximum, **item.default}
    requests = {**item.minimum, **limits, **item.default_request}
    return limits, requests


def _defaults(
    items: list[LimitRangeItem], spec: PodSpec, found: AdmissionFindings
) -> tuple[dict[str, Amount], dict[str, Amount]]:
    """The defaults of all items together; where two disagree and it matters, the smaller with a fact (A-226)."""
    limits: dict[str, Amount] = {}
    requests: dict[str, Amount] = {}
    containers = (*spec.containers, *spec.init_containers)
    for item in items:
        own_limits, own_requests = self_defaulted(item)
        for own, merged, field in ((own_limits, limits, "limits"), (own_requests, requests, "requests")):
            for name, amount in own.items():
                before = merged.get(name)
                if before is None:
                    merged[name] = amount
                    continue
                if before.milli == amount.milli:
                    continue
                merged[name] = min(before, amount, key=lambda a: a.milli)
                if any(name not in getattr(container, field) for container in containers):
                    found.unsure(
                        f"two LimitRanges give different defaults for the {name} {field}; either may win",
                        spec.place,
                        "scheduler:A-226",
                        (before.text, before.place),
                        (amount.text, amount.place),
                    )
    return limits, requests


def _filled(container: Container, limits: Resources, requests: Resources) -> Container:
    if limits.keys() <= container.limits.keys() and requests.keys() <= container.requests.keys():
        return container
    return replace(container, limits={**limits, **container.limits}, requests={**requests, **container.requests})


def _check_request_against_limit(container: Container, found: AdmissionFindings) -> None:
    for name, request in container.requests.items():
        limit = container.limits.get(name)
        # Where the author wrote both, reading the manifest already said so.
        if limit is None or request.milli <= limit.milli or _same_owner(request, limit):
            continue
        found.refuse(
            f'container "{container.name}": the {name} request {request.text} is above the limit {limit.text} that the '
            "LimitRange adds",
            request.place,
            "scheduler:A-223",
            (f"the LimitRange's {name} limit", limit.place),
        )


def _same_owner(one: Amount, other: Amount) -> bool:
    return one.place.object is other.place.object


def _check_pod(spec: PodSpec, item: LimitRangeItem, found: AdmissionFindings) -> None:
    totals, places = aggregate(spec)
    requests = {name: Amount(milli, render(milli, name), places[name][0]) for name, milli in totals.items()}
    limits = {name: Amount(milli, render(milli, name), spec.place) for name, milli in aggregate_limits(spec).items()}
    _check("the pod", requests, limits, spec.place, item, found)


def _check(
    who: str,
    requests: Resources,
    limits: Resources,
    place: Place,
    item: LimitRangeItem,
    found: AdmissionFindings,
) -> None:
    """Minimum, maximum and ratio of one item (A-224)."""
    for name, least in item.minimum.items():
        request, limit = requests.get(name), limits.get(name)
        if request is None:
            _refuse(who, f"has no {name} request, at least {least.text} is wanted", place, least, found)
        elif request.milli < least.milli:
            _refuse(who, f"requests {name} {request.text}, less than {least.text}", request.place, least, found)
        elif limit is not None and limit.milli < least.milli:
            _refuse(who, f"limits {name} to {limit.text}, less than {least.text}", limit.place, least, found)
    for name, most in item.maximum.items():
        request, limit = requests.get(name), limits.get(name)
        if limit is None:
            _refuse(who, f"has no {name} limit, at most {most.text} is wanted", place, most, found)
        elif limit.milli > most.milli:
            _refuse(who, f"limits {name} to {limit.text}, more than {most.text}", limit.place, most, found)
        elif request is not None and request.milli > most.milli:
            _refuse(who, f"requests {name} {request.text}, more than {most.text}", request.place, most, found)
    for name, ratio in item.max_ratio.items():
        request, limit = requests.get(name), limits.get(name)
        if not (request and request.milli and limit and limit.milli):
            _refuse(who, f"needs a {name} request and limit for the ratio {ratio.text}", place, ratio, found)
        elif limit.milli * 1000 > ratio.milli * request.milli:
            _refuse(
                who,
                f"has a {name} limit of more than {ratio.text} times its request ({limit.text} to {request.text})",
                limit.place,
                ratio,
                found,
            )


def _refuse(
    who: str, what: str, place: Place, bound: Amount, found: AdmissionFindings, semantics: str = "scheduler:A-224"
) -> None:
    found.refuse(f"{who} {what}: the LimitRange refuses it", place, semantics, ("the LimitRange", bound.place))
