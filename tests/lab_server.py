"""JupyterLab as a process of its own, with the configuration of this environment and none of the user's."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

#: As long as a test waits for anything, in seconds: a machine may have more to do.
PATIENCE = 120


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab; `folder` is its root."""

    url: str
    token: str
    folder: Path


@contextmanager
def jupyter_lab(folder: Path, private: Path, *options: str) -> Iterator[Lab]:
    """Run JupyterLab in a folder; the user's configuration and data are those in the folder `private`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    environment |= {
        "JUPYTER_CONFIG_DIR": str(private / "config"),
        "JUPYTER_DATA_DIR": str(private / "data"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "IPYTHONDIR": str(private / "ipython"),
    }
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", *options]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={folder}"]
    log = private / "server.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
        )
    try:
        yield _listening(server, private / "runtime", log, folder)
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:  # a kernel that was still starting can hold it up
            server.kill()
            server.wait()


def _listening(server: subprocess.Popen, runtime: Path, log: Path, folder: Path) -> Lab:
    """The server writes jpserver-<pid>.json, with the port that it takes, just before it listens."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for description in runtime.glob("jpserver-*.json"):
            try:
                facts = json.loads(description.read_text(encoding="utf-8"))
                socket.create_connection(("localhost", facts["port"])).close()
            except (json.JSONDecodeError, ConnectionRefusedError):  # half written, not yet listening
                continue
            return Lab(facts["url"], facts["token"], folder)
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
