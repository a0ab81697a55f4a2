"""Where names of the library have their page, for links."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from tools.site.docstrings import Linker


@dataclass
class AddressBook:
    """Full names such as ``torch.nn.Linear``, and the page of each, from the top of the site."""

    pages: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, page: str) -> None:
        """The first page of a name stays."""
        self.pages.setdefault(name, page)

    def find(self, name: str, module: str = "torch") -> str | None:
        """``name`` as a text in ``module`` uses it: ``Linear``, ``nn.Linear``, ``torch.nn.Linear``,
        ``Tensor.backward``, ``softmax()``."""
        name = name.removesuffix("()").removeprefix("F.").removeprefix("~")
        for candidate in (f"{module}.{name}", f"torch.{name}", name, f"torch.nn.functional.{name}"):
            if candidate in self.pages:
                return self.pages[candidate]
        return None

    def linker(self, page: str, module: str = "torch") -> Linker:
        """For the texts of ``page``, which need not link to itself."""

        def link(name: str) -> str | None:
            found = self.find(name, module)
            if found is None or found.partition("#")[0] == page:
                return None
            return posixpath.relpath(found, posixpath.dirname(page) or ".")

        return link
