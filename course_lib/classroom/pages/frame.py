"""The frame around every page of the site: sidebar, search, theme, the pages before and after; and the files it shares.

Pages open from a folder, too, so they load classic scripts alone: a browser loads no module from a file. What a page's
widgets show is in a file of data beside it.
"""

import base64
import html
import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from ...exercises.predict import PREDICTION
from ...trace.viewer.page import Bundle, module

HERE = Path(__file__).parent
#: A state in a page, as `course_lib.trace.viewer.page.place` writes it.
_STATE = re.compile(r'(<script\b[^>]*type="application/json"[^>]*)>(.*?)</script>', re.DOTALL)
_CARD = '<meta property="og:image" content="{}/assets/card.png">'
_PICTURE = re.compile(r'src="data:image/(png|svg\+xml);base64,([^"]+)"')


@dataclass(frozen=True)
class SidebarLink:
    """A link of the sidebar: to a page of the site, or to a place on this page, in a group of links."""

    target: str
    text: str
    group: str = ""


@dataclass(frozen=True)
class Page:
    """A page inside its frame.

    ``side`` are the links of the sidebar; those to places on the page are also its contents, at the right. ``bundles``
    are the widgets on it; ``source`` is the notebook it was made of, ``opened`` where else that opens: (name, address).
    """

    title: str
    body: str
    description: str
    side: Sequence[SidebarLink] = ()
    bundles: Sequence[Bundle] = ()
    source: str = ""
    kind: str = ""
    opened: Sequence[tuple[str, str]] = ()


def framed(pages: Mapping[str, Page], address: str = "", home: str = "index.html", lite: str = "") -> dict[str, str]:
    """Return the files of all pages, in their frames: HTML, and the data of each page's widgets.

    ``address`` is that of the site, for the cards that other sites show; without it cards have no picture. ``home`` is
    the page to which the title leads. ``lite`` is the folder of a JupyterLite site beside them, to which each leads.
    """
    names, files = list(pages), {}
    template = Template((HERE / "frame.html").read_text(encoding="utf-8"))
    for at, (name, page) in enumerate(pages.items()):
        up = "../" * name.count("/")
        body, states = _without_states(page.body)
        data = f"assets/{posixpath.splitext(name)[0].replace('/', '_')}.data.js"
        if states:
            files[data] = f"tileByTileData({json.dumps(states)});\n"
        scripts = [data] * bool(states) + [f"assets/{bundle.name}.js" for bundle in page.bundles]
        near = [names[i] if 0 <= i < len(names) and pages[names[i]].kind == page.kind else "" for i in (at - 1, at + 1)]
        files[name] = template.substitute(
            title=html.escape(page.title),
            description=html.escape(page.description, quote=True),
            card=_CARD.format(html.escape(address.rstrip("/"))) * bool(address),
            up=up,
            home=home,
            styles="".join(f'<link rel="stylesheet" href="{up}assets/{b.name}.css">\n' for b in page.bundles),
            side=_sidebar(name, page, up),
            run=_jupyterlite_link(page, up + lite) if lite else "",
            before=_neighbour_link(near[0], "prev", pages, up),
            after=_neighbour_link(near[1], "next", pages, up),
            kind=page.kind,
            body=body,
            source=_source(page),
            contents=_contents(page),
            scripts="".join(f'<script defer src="{up}{script}"></script>\n' for script in scripts),
        )
    return files


def _source(page: Page) -> str:
    """Return the links beside the title: to the notebook, and to services that open it."""
    if not page.source:
        return ""
    links = [f'<a href="{html.escape(page.source)}" download>Notebook</a>']
    links += [f'<a href="{html.escape(address)}">{html.escape(name)}</a>' for name, address in page.opened]
    return f'<p class="source">{" · ".join(links)}</p>'


def _contents(page: Page) -> str:
    """Return the page's own sections as a list of links; nothing of a page without any."""
    own = [link for link in page.side if link.target.startswith("#")]
    rows = "\n".join(f'<li><a href="{html.escape(at.target)}">{html.escape(at.text)}</a></li>' for at in own)
    return f'<nav class="own" aria-label="On this page"><p>On this page</p><ul>\n{rows}\n</ul></nav>' * bool(own)


def _without_states(body: str) -> tuple[str, list[str]]:
    """Return a page's HTML without the states of its widgets, and these."""
    states: list[str] = []

    def keep(found: re.Match[str]) -> str:
        states.append(found[2])
        return f'{found[1]} data-state="{len(states) - 1}"></script>'

    return _STATE.sub(keep, body), states


def _jupyterlite_link(page: Page, lite: str) -> str:
    """Return a link to JupyterLab in the browser, with the page's lesson if it is one."""
    name = posixpath.basename(page.source)
    target = f"{lite}/lab/index.html" + f"?path={name}" * bool(name)
    says = "This lesson in JupyterLab, which runs in your browser: nothing to install"
    return f'<a class="run" href="{html.escape(target)}" title="{says}">▶ <span>Open in the browser</span></a>\n'


def _neighbour_link(name: str, rel: str, pages: Mapping[str, Page], up: str) -> str:
    if not name:
        return ""
    title = html.escape(pages[name].title)
    ends = ("← ", "") if rel == "prev" else ("", " →")
    return f'<a rel="{rel}" href="{up}{name}" title="{title}">{ends[0]}<span>{title}</span>{ends[1]}</a>'


def _sidebar(name: str, page: Page, up: str) -> str:
    parts, group = [], ""
    for link in page.side:
        if link.group != group:
            group = link.group
            parts.append(f"<li class=group>{html.escape(group)}</li>")
        here = ' aria-current="page"' * (link.target == name)
        target = link.target if link.target.startswith("#") else up + link.target
        deep = " class=deep" * link.target.startswith("#")
        parts.append(f'<li{deep}><a href="{html.escape(target)}"{here}>{html.escape(link.text)}</a></li>')
    return "\n".join(parts)


def file_text(name: str) -> str:
    """Return a file of this folder: ``theme.css`` has the colours of pages and slides, light and dark."""
    return (HERE / name).read_text(encoding="utf-8")


def assets(pages: Iterable[Page], search: Sequence[Sequence[str]] = ()) -> dict[str, str]:
    """Return the files that pages share: style, scripts, the widgets' code, the icon, and the index of the search."""
    files = {f"assets/{name}": file_text(name) for name in ("site.css", "site.js", "icon.svg")}
    files["assets/site.css"] = file_text("theme.css") + files["assets/site.css"]
    files["assets/search.js"] = f"tileByTileIndex({json.dumps(search, ensure_ascii=False)});\n"
    for bundle in dict.fromkeys(bundle for page in pages for bundle in page.bundles):
        files[f"assets/{bundle.name}.css"] = bundle.read("css")
        files[f"assets/{bundle.name}.js"] = _classic(bundle)
    return files


def _classic(bundle: Bundle) -> str:
    """Return a widget's code as a classic script; predictions are judged by ``judge.js``, as there is no kernel."""
    code = re.sub(r"^<script[^>]*>|</script>$", "", module(bundle))
    if bundle is PREDICTION:
        code = code[: code.index("class PageModel")] + (HERE / "judge.js").read_text(encoding="utf-8")
    return f'(() => {{ "use strict";\n{code}\n}})();\n'


def with_pictures_as_files(body: str, page: str, files: dict[str, bytes]) -> str:
    """Return a page's HTML with its pictures as files, which are added to ``files``, and load when they are near."""
    up, name = "../" * page.count("/"), re.sub(r"\W", "_", posixpath.splitext(page)[0])

    def put(found: re.Match[str]) -> str:
        kind = "svg" if found[1].startswith("svg") else "png"
        file = f"assets/{name}-{len(files)}.{kind}"
        files[file] = base64.b64decode(found[2])
        return f'loading="lazy" src="{up}{file}"'

    return _PICTURE.sub(put, body)


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by their names into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
