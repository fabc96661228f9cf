"""What the tests of the browser's modules without a page share."""

import os
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def node():
    """Run Node.js with these arguments, and return what it prints."""
    if shutil.which("node") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Node.js found (Debian: apt-get install nodejs)")

    def run(*arguments, given=""):
        done = subprocess.run(["node", *arguments], input=given, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
