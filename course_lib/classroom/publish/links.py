"""Links between pages: where they lead, and which of them lead nowhere."""

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html.parser import HTMLParser
from urllib.parse import unquote

#: A relative link to the source of a page.
_SOURCES = re.compile(r'href="(?![a-z]+:|notebooks/)([^"#?]*\.(?:ipynb|md))((?:#[^"]*)?)"')


def refuse_duplicates(names: Sequence[str]) -> None:
    """Raise ValueError if two files would have one name, on a system that ignores case, too."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise ValueError(f"two pages would be called {name}: rename one, or write them to different folders.")
        seen.add(name.lower())


def linked(page: str, to: Callable[[str], str | None]) -> str:
    """Return a page whose links to notebooks and Markdown files lead where ``to`` says; None leaves only their text."""

    def href(link: re.Match[str]) -> str:
        target = to(unquote(link[1]))
        return "" if target is None else f'href="{target}{link[2]}"'

    return _SOURCES.sub(href, page)


class _Links(HTMLParser):
    """The links of a page, the files that it loads, and the places in it that a link can name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name"):
                self.places.add(unquote(value or ""))
            elif name in ("href", "src") and not (value or "").startswith("data:"):
                self.targets.append(value or "")


def links_of(pages: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (page, target) for each link and each address that a page loads, in order."""
    return [(name, target) for name, page in pages.items() for target in _Links(page).targets]


def dead_links(pages: Mapping[str, str], files: Collection[str] = ()) -> list[str]:
    """Return "page: target" for each relative link without a page or a file, or without a place on its page."""
    places = {name: _Links(page).places for name, page in pages.items()}
    dead = []
    for name, target in links_of(pages):
        if re.match(r"[a-z]+:|#step=", target):
            continue  # of another site, or to a step of a stepper
        path, _, place = target.partition("#")
        path, _, _ = path.partition("?")
        goal = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if unquote(place) not in places.get(goal, ()) and not (goal in files and not place):
            dead.append(f"{name}: {target}")
    return dead
