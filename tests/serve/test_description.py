"""The OpenAPI document says what the service does: requests made from it never find the service at a loss."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from markdown_page import service_page

schemathesis = pytest.importorskip("schemathesis")
# Here, before a service has threads: Python 3.11 cannot parse in two threads at a time, as imports under pytest do.
pytest.importorskip("schemathesis.specs.openapi.schemas")


CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]


quiet = settings(
    max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def test_requests_made_from_the_description(service):
    """Good and bad requests to every path: none is a failure of the server, and each answer is as described."""
    description = schemathesis.openapi.from_url(f"http://127.0.0.1:{service.port}/v1/openapi.json")
    checks = [getattr(schemathesis.checks, name) for name in CHECKS]
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    asked = []
    for operation in description.get_all_operations():
        for mode in modes:
            try:
                strategy = operation.ok().as_strategy(generation_mode=mode)
            except schemathesis.errors.SchemathesisError:
                continue  # a path without parameters has no bad request

            @quiet
            @given(case=strategy)
            def ask(case):
                asked.append(case.path)
                case.call_and_validate(checks=checks)

            try:
                ask()
            except Unsatisfiable:
                continue
    assert len(set(asked)) > 20
    assert len(asked) > 150


def test_the_page_lists_the_paths_of_the_description(service):
    paths = service.get("/v1/openapi.json")["paths"]
    described = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert set(re.findall(r"^### (GET|POST|DELETE) (\S+)$", service_page(), re.MULTILINE)) == described


def test_the_page_lists_the_fields_of_requests(service):
    schemas = service.get("/v1/openapi.json")["components"]["schemas"]
    page = service_page()
    for path, body in (
        ("/v1/predict", "PredictBody"),
        ("/v1/score", "ScoreBody"),
        ("/v1/prove", "ProveBody"),
        ("/v1/certify", "CertifyBody"),
        ("/v1/whatif", "WhatIfBody"),
    ):
        part = page.split(f"### POST {path}\n")[1].split("\n##")[0]
        for field in schemas[body]["properties"]:
            assert field == "run" or f"`{field}`" in part, (path, field)


def test_every_path_has_examples_or_none_to_give(service):
    document = service.get("/v1/openapi.json")
    for name in ("PredictBody", "ScoreBody", "ProveBody", "CertifyBody", "WhatIfBody"):
        assert document["components"]["schemas"][name]["examples"]
