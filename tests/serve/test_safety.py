"""Who may ask, what is told to whom, and what happens to those who ask too much."""

import contextlib
import json
import socket
import time

import pytest
from service import TOKEN, read_all

from clausal.errors import InputError
from clausal.serve.limits import Rate
from clausal.serve.security import check_host, is_loopback, read_token

HEAD = f"POST /v1/score HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


def test_others_can_reach_the_service_only_with_a_token():
    for host in ("0.0.0.0", "192.168.1.4", "example.org", "::"):
        with pytest.raises(InputError, match="--token-file"):
            check_host(host, None)
        check_host(host, b"x" * 20)
    for host in ("127.0.0.1", "localhost", "::1", "127.8.0.1"):
        check_host(host, None)
        assert is_loopback(host)


@pytest.mark.parametrize("text", ["", "short", "has blanks in its middle", "ünicode-is-not-ascii"])
def test_bad_tokens_are_refused(tmp_path, text):
    (tmp_path / "token").write_text(text)
    with pytest.raises(InputError, match="at least 16"):
        read_token(tmp_path / "token")


def test_a_token_is_asked_for_but_not_for_health_and_pages(strict_service):
    time.sleep(1.1)  # the rate of this server is small
    for path, status in (
        ("/v1/run", 401),
        ("/metrics", 401),
        ("/health/live", 200),
        ("/health/ready", 200),
        ("/", 200),
    ):
        assert strict_service.request("GET", path)[0] == status, path
    assert strict_service.request("GET", "/v1/run", headers={"authorization": f"Bearer {TOKEN}x"})[0] == 401
    assert strict_service.request("GET", "/v1/run", headers={"authorization": TOKEN})[0] == 401
    assert strict_service.request("GET", "/v1/run", headers=HEADERS)[0] == 200


def test_a_client_that_asks_too_often_is_told_to_wait(strict_service):
    time.sleep(1.1)
    found = [strict_service.request("GET", "/v1/run", headers=HEADERS) for _ in range(40)]
    refused = [(headers, json.loads(body)) for status, headers, body in found if status == 429]
    assert refused
    assert all(int(headers["retry-after"]) >= 1 for headers, _ in refused)
    assert "try again" in refused[0][1]["detail"]
    assert strict_service.request("GET", "/health/live")[0] == 200


def test_a_large_body_is_refused_before_it_is_read(strict_service):
    time.sleep(1.1)
    status, headers, body = strict_service.request("POST", "/v1/score", b"x" * (1 << 20) + b"x", HEADERS)
    assert status == 413
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["status"] == 413
    with strict_service.connect() as connection:  # nobody sends this much: the announcement is enough
        connection.sendall(f"{HEAD}content-length: 99999999999\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")
    with strict_service.connect() as connection:  # nor in pieces without an announcement
        head = (
            f"POST /v1/score HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        try:
            for _ in range(40):
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            pass  # closed by the server
        assert b" 413 " in connection.recv(1000)


def test_a_body_that_does_not_come_ends_the_request(strict_service):
    time.sleep(1.1)
    with strict_service.connect() as connection:
        head = f"POST /v1/predict HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\n{{"
        connection.sendall(head.encode())
        started = time.monotonic()
        assert b" 503 " in connection.recv(1000)
        assert time.monotonic() - started < 10


def test_a_flood_of_connections_is_refused_and_passes(strict_service):
    time.sleep(1.1)
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(strict_service.connect()) for _ in range(60)]
        refused = 0
        for connection in waiting[25:]:
            connection.settimeout(5)
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                refused += b" 503 " in connection.recv(1000)
        assert refused >= 20
    for _ in range(50):
        if strict_service.request("GET", "/health/live")[0] == 200:
            break
        time.sleep(0.1)
    assert strict_service.request("GET", "/health/live")[0] == 200


def test_a_head_without_end_is_refused(strict_service):
    time.sleep(1.1)
    with strict_service.connect() as connection:
        try:
            connection.sendall(b"GET /health/live HTTP/1.1\r\n")
            for number in range(20):
                connection.sendall(b"x-%d: " % number + b"y" * 8000 + b"\r\n")
        except OSError:
            pass
        assert b" 431 " in connection.recv(1000)


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"queries": ["a' + b"\\ud800" + b'(b, ?)"]}', "application/json", 400),
        (b'{"queries": [1e999]}', "application/json", 422),
        (b"null", "application/json", 422),
        (b"", "application/json", 400),
        (b'{"queries": ["located_in(Spain, ?)"]}', "text/plain", 415),
        (b"queries=1", "application/x-www-form-urlencoded", 415),
        (b'{"queries": ["' + b"(" * 4_900 + b')"]}', "application/json", 422),
        (b'{"queries": ["' + b"a(b," * 1_200 + b')"]}', "application/json", 422),
    ],
    ids=["cut", "bytes", "deep", "surrogate", "huge", "null", "empty", "plain", "form", "brackets", "commas"],
)
@pytest.mark.parametrize("path", ["/v1/predict", "/v1/whatif"])
def test_bad_bodies_are_problems(service, path, body, content_type, status):
    if path == "/v1/whatif":
        body = body.replace(b'"queries": [', b'"facts_on": [')
    found, headers, answer = service.request("POST", path, body, {"content-type": content_type})
    assert found in (status, 422), answer  # FastAPI reads some of what is no JSON, and then finds it wrong
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(answer)["detail"]


def test_a_reader_that_does_not_read_holds_up_nobody(service):
    facts = [[f"entity {number % 2000}", "r1", "entity 1"] for number in range(100_000)]
    body = json.dumps({"run": "large", "facts": facts}).encode()
    head = b"POST /v1/score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    with service.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(head % len(body) + body)
        time.sleep(1)
        started = time.monotonic()
        for _ in range(20):
            service.post("/v1/predict", {"queries": ["located_in(Spain, ?)"]})
        assert time.monotonic() - started < 15


@pytest.mark.parametrize(
    "sent", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"HELLO / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00"]
)
def test_what_is_no_http_is_refused(service, sent):
    with service.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        assert b" 400 " in read_all(connection)
    assert service.get("/health/live")["status"] == "live"


def test_pages_of_other_sites_cannot_reach_a_service_without_token(service):
    assert service.request("GET", "/v1/run", headers={"host": "evil.example"})[0] == 403
    for host in ("localhost", f"localhost:{service.port}", "127.0.0.1", "[::1]:80"):
        assert service.request("GET", "/v1/run", headers={"host": host})[0] == 200
    _, headers, _ = service.request("GET", "/v1/run", headers={"origin": "https://evil.example"})
    assert not [name for name in headers if name.startswith("access-control")]
    assert service.request("OPTIONS", "/v1/predict")[0] == 405


@pytest.mark.parametrize(
    "path", ["/", "/v1/run", "/v1/nothing", "/metrics", "/static/../app.py", "/static/%2e%2e/app.py"]
)
def test_every_answer_has_the_headers_of_safety(service, path):
    status, headers, body = service.request("GET", path)
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["clausal-version"]
    assert "server" not in headers
    if ".." in path or "%2e" in path:
        assert status == 404
        assert b"FastAPI" not in body


def test_no_answer_has_a_path_of_the_host(service, run_paths):
    hidden = str(run_paths[0].parent).encode()
    for path in (
        "/v1/runs",
        "/v1/run",
        "/v1/run/log",
        "/v1/clauses",
        "/v1/clauses/0",
        "/metrics",
        "/v1/jobs",
        "/v1/run?run=x",
    ):
        assert hidden not in service.request("GET", path)[2], path


def test_no_page_of_the_interface_loads_from_elsewhere(service):
    assert service.request("GET", "/docs")[0] == 404
    assert service.request("GET", "/redoc")[0] == 404
    assert b"http://" not in service.request("GET", "/")[2].replace(b"http://www.w3.org/", b"")


def test_rates_by_hand():
    rate = Rate(10)
    assert [rate.wait("a", 0.0) for _ in range(10)] == [0.0] * 10
    assert rate.wait("a", 0.0) == pytest.approx(0.1)
    assert rate.wait("b", 0.0) == 0
    assert rate.wait("a", 0.1) == 0
    assert rate.wait("a", 0.1) > 0
    assert [rate.wait("a", 100.0) > 0 for _ in range(11)] == [False] * 10 + [True]
    assert Rate(0).wait("a") == 0
