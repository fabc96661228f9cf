"""The templates of what is written for teachers and students."""

from pathlib import Path
from typing import Any

from ...simulator.formatting import as_code


def rendered(template: str, **data: Any) -> str:
    """Return a template of this folder with this data, of which everything is escaped, except in Markdown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # of the extra `teach`
    from markupsafe import Markup

    folder = FileSystemLoader(Path(__file__).parent)
    escaped = not template.endswith(".md")
    environment = Environment(loader=folder, autoescape=escaped, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["code"] = lambda text: Markup(as_code(text))
    return environment.get_template(template).render(data)
