"""python_reference.py - the reference of the Python package: a page for each public class or function

What is public is what `__all__` of a module names.  The pages have directives of autodoc, which
takes the rest from signatures and docstrings.  The frameworks that some modules are for are not
installed; stand-ins take their place.
"""
import importlib
import inspect
import pkgutil

from sphinx.ext.autodoc.mock import mock

# conf.py has them too.
FRAMEWORKS = ["datasets", "datatrove", "duckdb", "imblearn", "itemadapter", "numpy", "pandas", "polars", "pyarrow",
              "pyspark", "ray", "scipy", "scrapy", "sklearn", "tqdm", "twisted"]


def public_modules():
    """The package and its modules whose names begin without an underscore."""
    package = importlib.import_module("neardup")
    found = [package]
    for info in pkgutil.walk_packages(package.__path__, "neardup."):
        if any(part.startswith("_") for part in info.name.split(".")[1:]):
            continue
        with mock(FRAMEWORKS):
            module = importlib.import_module(info.name)
        if getattr(module, "__all__", None):
            found.append(module)
    return found


def underlined(title, mark="="):
    return f"{title}\n{mark * len(title)}\n\n"


def directive(kind, name, *options):
    return f".. auto{kind}:: {name}\n" + "".join(f"   :{option}:\n" for option in options) + "\n"


def page_of(module, name):
    full = f"{module.__name__}.{name}"
    thing = getattr(module, name)
    text = underlined(full)
    if inspect.isclass(thing):
        if issubclass(thing, BaseException):
            return text + directive("exception", full, "show-inheritance")
        return text + directive("class", full, "members", "special-members: __call__, __len__, __getitem__, __contains__")
    return text + directive("function" if callable(thing) else "data", full)


def first_line(thing):
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")


def write_pages(stage):
    text = underlined("The Python package")
    text += "These pages are made from the docstrings. :doc:`/python/README` shows how the parts work together.\n\n"
    shown = {}
    for module in public_modules():
        text += underlined(module.__name__, "-") + first_line(module) + "\n\n"
        text += ".. list-table::\n   :widths: 35 65\n\n"
        for name in sorted(module.__all__, key=str.lower):
            # Two modules may name the same thing; it has one page.
            page, new = f"reference/python/{module.__name__}.{name}", id(getattr(module, name)) not in shown
            page = shown.setdefault(id(getattr(module, name)), page)
            if new:
                stage.write(f"{page}.rst", page_of(module, name))
            text += f"   * - :doc:`{name} </{page}>`\n     - {first_line(getattr(module, name))}\n"
        text += "\n"
    stage.write("reference/python/index.rst", text)
