"""The packages in WebAssembly, filled once for all tests of this folder."""

import pytest


@pytest.fixture(scope="session")
def there(tmp_path_factory):
    """The packages that a lesson needs, and a folder for what is written."""
    from webassembly import python

    packages = tmp_path_factory.mktemp("packages")
    python.fill(packages)
    return {"packages": packages, "own": tmp_path_factory.mktemp("own")}
