"""A class on one machine: a real JupyterHub and its proxy, where every user runs all cells of a lesson at once.

    uv run --with jupyterhub pytest --nightly tests/classroom/deploy/test_hub.py

needs configurable-http-proxy on the path (`npm install -g configurable-http-proxy`). TILE_BY_TILE_HUB_USERS, by default
three, is the number of users; `-s` shows the time and the memory that they took.
"""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

from course_lib.classroom import lessons

PROXY = shutil.which("configurable-http-proxy")
USERS = int(os.environ.get("TILE_BY_TILE_HUB_USERS", "3"))
LESSON = "02"
TOKEN = "a-token-of-this-test-alone"
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/homes/{{username}}"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
# A machine on which all start at once answers late; without these the servers end connections after 30 to 60 s.
c.Spawner.args = ["--allow-root", "--MappingKernelManager.kernel_info_timeout=600",
                  "--ServerApp.websocket_ping_interval=600000"]
c.Spawner.environment = {{"PATH": {path!r}, "PYTHONPATH": {root!r}}}
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
c.JupyterHub.concurrent_spawn_limit = {users}
c.JupyterHub.services = [{{"name": "test", "api_token": {token!r}}}]
c.JupyterHub.load_roles = [{{"name": "test", "services": ["test"], "scopes": [
    "admin:users", "admin:servers", "access:servers"]}}]
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
    port = free_port()
    config = CONFIG.format(
        port=port,
        hub=free_port(),
        api=free_port(),
        proxy=PROXY,
        python=sys.executable,
        folder=folder,
        path=os.environ["PATH"],
        root=str(Path(lessons.__file__).parents[2]),
        users=USERS,
        token=TOKEN,
    )
    (folder / "jupyterhub_config.py").write_text(config, encoding="utf-8")
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"], cwd=folder, stdout=log, stderr=log
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            running.terminate()  # the hub ends its proxy and the users' servers
            running.wait(60)


#: What a proxy answers while a server starts; before the hub itself is there, also 404.
STARTING = (424, 503, 599)


async def asked(url, method="GET", body=None, patience=600, starting=STARTING):
    """The answer to a request, asked again while the server starts."""
    from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

    ends = time.monotonic() + patience
    while True:
        request = HTTPRequest(
            url,
            method,
            {"Authorization": f"token {TOKEN}"},
            None if body is None else json.dumps(body),
            allow_nonstandard_methods=True,
            connect_timeout=patience,
            request_timeout=patience,
        )
        try:
            return json.loads((await AsyncHTTPClient().fetch(request)).body or "null")
        except (OSError, HTTPClientError) as error:
            if getattr(error, "code", STARTING[0]) not in starting or time.monotonic() > ends:
                raise
            await asyncio.sleep(0.5)


async def started(hub, user):
    """Start the user's server; return its address."""
    await asked(f"{hub}/hub/api/users/{user}", "POST")
    await asked(f"{hub}/hub/api/users/{user}/server", "POST", {})
    while not (await asked(f"{hub}/hub/api/users/{user}"))["servers"].get("", {}).get("ready"):
        await asyncio.sleep(0.5)
    return f"{hub}/user/{user}"


async def run_all(server, name):
    """Send all cells of the lesson to a kernel at once, as Run All does; return the errors."""
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    notebook = await asked(f"{server}/api/contents/{name}")
    cells = [cell["source"] for cell in notebook["content"]["cells"] if cell["cell_type"] == "code"]
    body = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
    session = await asked(f"{server}/api/sessions", "POST", body)
    address = f"{server.replace('http', 'ws', 1)}/api/kernels/{session['kernel']['id']}/channels"
    headers = {"Authorization": f"token {TOKEN}"}
    socket = await websocket_connect(HTTPRequest(address, headers=headers, connect_timeout=600, request_timeout=600))
    waiting = set()
    for source in cells:
        header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": "", "date": ""}
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        waiting.add(header["msg_id"])
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        await socket.write_message(json.dumps(message))
    errors = []
    while waiting:
        message = await socket.read_message()
        assert message is not None, "the kernel's connection ended"
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
    parents, spent, below, memory = {}, {}, {os.getpid()}, 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)], spent[int(path.name)] = int(fields[1]), sum(map(int, fields[11:13]))
    while more := {one for one, parent in parents.items() if parent in below} - below:
        below |= more
    for one in below & set(spent):
        with contextlib.suppress(OSError, IndexError):
            memory += int(Path(f"/proc/{one}/smaps_rollup").read_text().split("\nPss:")[1].split()[0]) >> 10
    return memory, sum(spent[one] for one in below & set(spent)) / os.sysconf("SC_CLK_TCK")


async def a_class(hub):
    from tornado.httpclient import AsyncHTTPClient

    AsyncHTTPClient.configure(None, max_clients=4 * USERS)
    await asked(f"{hub}/hub/api/", starting=(404, *STARTING))
    (name,) = (path.name for path in lessons.files() if path.name.startswith(LESSON) and path.suffix == ".ipynb")
    times, uses, errors = [time.monotonic()], [used()], []
    servers = await asyncio.gather(*(started(hub, f"user{number}") for number in range(USERS)))
    times, uses = [*times, time.monotonic()], [*uses, used()]
    errors = await asyncio.gather(*(run_all(server, name) for server in servers))
    times, uses = [*times, time.monotonic()], [*uses, used()]
    for what, one, two in (("servers started", 0, 1), (f"lesson {LESSON} executed", 1, 2)):
        memory, seconds = ((uses[two][part] - uses[one][part]) / USERS for part in (0, 1))
        print(
            f"\n{USERS} users, {what} after {times[two] - times[one]:.0f} s: "
            f"{memory:.0f} MiB and {seconds:.1f} s of the processor more for each"
        )
    return errors
