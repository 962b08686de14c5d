"""Training over a network: two network namespaces stand for two machines, and torchrun runs as the how-to says."""

import os
import shutil
import subprocess
import sys
import uuid

import pytest

from clausal.peers.interfaces import interface_towards
from clausal.run.directory import RunDirectory
from small_graphs import train_options

SECONDS = 240


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts():
    """Two namespaces with a cable between them."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("needs the right to make network namespaces: root, and ip of iproute2")
    mark = uuid.uuid4().hex[:6]
    names = [f"clausal-{mark}-{number}" for number in (1, 2)]
    cables = [f"cl{mark}{number}" for number in (1, 2)]
    try:
        try:
            for name in names:
                ip("netns", "add", name)
            ip(
                "link",
                "add",
                cables[0],
                "netns",
                names[0],
                "type",
                "veth",
                "peer",
                "name",
                cables[1],
                "netns",
                names[1],
            )
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not allowed here: {error.stderr.strip()}")
        for number, (name, cable) in enumerate(zip(names, cables, strict=True), start=1):
            ip("-n", name, "addr", "add", f"10.213.77.{number}/24", "dev", cable)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", cable, "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def torchrun(host, number, *words):
    """Start the command of the how-to on one of two machines."""
    command = ["--nnodes", "2", "--node-rank", str(number), "--nproc-per-node", "1"]
    command += ["--master-addr", "10.213.77.1", "--master-port", "29500", "-m", "clausal", *map(str, words)]
    launcher = [sys.executable, "-m", "torch.distributed.run", *command]
    return subprocess.Popen(
        ["ip", "netns", "exec", host, *launcher],
        env={name: value for name, value in os.environ.items() if not name.endswith("_SOCKET_IFNAME")}
        | {"OMP_NUM_THREADS": "1"},  # without the interface that another test has chosen in this process
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_two_hosts_train_one_run(hosts, graph_folder, tmp_path):
    out = tmp_path / "run"
    options = [*train_options(graph_folder, train__epochs=2), "--out", out, "--trust-network"]
    processes = [torchrun(host, number, *options) for number, host in enumerate(hosts)]
    try:
        said = [process.communicate(timeout=SECONDS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], "\n".join(said)
    metrics = RunDirectory.open(out).metrics
    assert metrics["training"]["processes"] == 2
    assert metrics["training"]["bytes_per_step"] > 0


def test_the_interface_towards_this_machine_is_loopback_and_an_unknown_host_has_none():
    assert interface_towards("127.0.0.1") == ("lo" if sys.platform == "linux" else None)
    assert interface_towards("nowhere.invalid") is None
    assert interface_towards("") is None
