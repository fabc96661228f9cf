"""A class on one machine: a real JupyterHub and its proxy, where every user runs all cells of a lesson at once.

    uv run --with jupyterhub pytest --nightly tests/classroom/deploy/test_hub.py

needs configurable-http-proxy on the path (`npm install -g configurable-http-proxy`). TILE_BY_TILE_HUB_USERS, by default
three, is the number of users; `-s` shows the time and the memory that they took.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import requests
import websocket
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from course_lib.classroom import lessons

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(importlib.util.find_spec("jupyterhub") is None, reason="jupyterhub is not installed"),
    pytest.mark.skipif(not shutil.which("configurable-http-proxy"), reason="its proxy is not on the path"),
]
USERS = int(os.environ.get("TILE_BY_TILE_HUB_USERS", "3"))
LESSON = "02"
TOKEN = "a-token-of-this-test-alone"
CONFIG = """
import os, shutil, sys
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORTS[0]}"
c.JupyterHub.hub_port = PORTS[1]
c.ConfigurableHTTPProxy.command = [shutil.which("configurable-http-proxy")]
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORTS[2]}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = os.getcwd() + "/homes/{username}"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
# A machine on which all start at once answers late; without these the servers end connections after 30 to 60 s.
c.Spawner.args = ["--allow-root", "--MappingKernelManager.kernel_info_timeout=600",
                  "--ServerApp.websocket_ping_interval=600000"]
c.Spawner.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ROOT}
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
c.JupyterHub.concurrent_spawn_limit = USERS
c.JupyterHub.services = [{"name": "test", "api_token": TOKEN}]
c.JupyterHub.load_roles = [{"name": "test", "services": ["test"], "scopes": [
    "admin:users", "admin:servers", "access:servers"]}]
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def hub_in(folder):
    """The address of a hub; each user's home is a folder with the lessons."""
    for number in range(USERS):
        lessons.copy(folder / "homes" / f"user{number}")
    ports = [free_port() for _ in range(3)]
    given = {"PORTS": ports, "USERS": USERS, "TOKEN": TOKEN, "ROOT": str(Path(lessons.__file__).parents[2])}
    lines = "\n".join(f"{name} = {value!r}" for name, value in given.items())
    (folder / "jupyterhub_config.py").write_text(lines + CONFIG, encoding="utf-8")
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"], cwd=folder, stdout=log, stderr=log
        )
        try:
            yield f"http://127.0.0.1:{ports[0]}"
        finally:
            running.terminate()  # the hub ends its proxy and the users' servers
            running.wait(60)


#: Asks again, every half second, while a server starts: what a proxy answers then; before the hub is there, also 404.
STARTING = Retry(1200, status_forcelist=(404, 424, 503), allowed_methods=None, backoff_factor=0.5, backoff_max=0.5)


def asked(url, method="GET", body=None):
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=STARTING))
        answer = session.request(method, url, json=body, headers={"Authorization": f"token {TOKEN}"}, timeout=600)
        answer.raise_for_status()
        return answer


def started(hub, user):
    """Start the user's server; return its address."""
    asked(f"{hub}/hub/api/users/{user}", "POST")
    asked(f"{hub}/hub/api/users/{user}/server", "POST", {})
    asked(f"{hub}/hub/api/users/{user}/server/progress")  # this answer ends when the server is ready
    return f"{hub}/user/{user}"


def run_all(server, name):
    """Send all cells of the lesson to a kernel at once, as Run All does; return the errors."""
    notebook = asked(f"{server}/api/contents/{name}").json()
    body = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
    kernel = asked(f"{server}/api/sessions", "POST", body).json()["kernel"]["id"]
    address = f"{server.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
    socket = websocket.create_connection(address, header={"Authorization": f"token {TOKEN}"}, timeout=600)
    waiting, errors = set(), []
    for cell in notebook["content"]["cells"]:
        if cell["cell_type"] == "code":
            waiting.add(id := uuid.uuid4().hex)
            header = {"msg_id": id, "msg_type": "execute_request", "username": "", "session": "", "date": ""}
            content = {"code": cell["source"], "silent": False, "store_history": True, "stop_on_error": True}
            message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
            socket.send(json.dumps(message))
    while waiting:
        message = socket.recv()
        if isinstance(message, bytes):
            continue  # a widget's data
        told = json.loads(message)
        if told["msg_type"] == "error":
            errors.append("\n".join(told["content"]["traceback"][-3:]))
        if told["msg_type"] == "execute_reply":
            waiting.discard(told["parent_header"].get("msg_id"))
    return errors


def used():
    """MiB and processor seconds of all processes below this one; pages that they share count once."""
    memory, seconds, this = 0, 0, psutil.Process()
    for each in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has ended
            memory += each.memory_full_info().pss / 2**20
            seconds += sum(each.cpu_times()[:2])
    return memory, seconds


def a_class(hub):
    """All users at once: the errors of each; prints what it took."""

    def measured(what, do, *arguments):
        began, before = time.monotonic(), used()
        found = list(users.map(do, *arguments))
        memory, seconds = ((after - each) / USERS for each, after in zip(before, used(), strict=True))
        print(
            f"\n{USERS} users, {what} after {time.monotonic() - began:.0f} s: "
            f"{memory:.0f} MiB and {seconds:.1f} s of the processor more for each"
        )
        return found

    asked(f"{hub}/hub/api/")
    (name,) = (path.name for path in lessons.files() if path.name.startswith(LESSON) and path.suffix == ".ipynb")
    with ThreadPoolExecutor(USERS) as users:
        names = [f"user{number}" for number in range(USERS)]
        servers = measured("servers started", started, [hub] * USERS, names)
        return measured(f"lesson {LESSON} executed", run_all, servers, [name] * USERS)


def test_every_user_runs_all_cells_at_once(tmp_path):
    with hub_in(tmp_path) as hub:
        errors = a_class(hub)
    assert errors == [[] for _ in range(USERS)]
