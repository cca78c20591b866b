"""`saved`: searches that are kept by name."""

from __future__ import annotations

from typing import Annotated

import typer

from vsdemo.cli.options import IndexName, Json, index_name
from vsdemo.cli.output import print_json, print_table

Name = Annotated[str, typer.Argument(help="Name of a saved search; see `vsdemo saved`.")]

cli = typer.Typer(invoke_without_command=True)


@cli.callback()
def saved(context: typer.Context, gallery: IndexName = None, *, as_json: Json = False) -> None:
    """List, rename and delete saved searches.

    Without a command, list them.
    """
    from vsdemo.data.catalog.annotations import Annotations

    if context.invoked_subcommand:
        return
    searches = Annotations(index_name(gallery)).searches()
    if as_json:
        print_json([search.model_dump(mode="json") for search in searches])
    elif searches:
        print_table(
            [
                (search.name, " ".join(search.sentences.split()), f"{len(search.photos)} photos")
                for search in searches
            ]
        )
    else:
        print("There are no saved searches yet.")


@cli.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(help="Its new name.")],
    gallery: IndexName = None,
) -> None:
    """Rename a saved search."""
    from vsdemo.data.catalog.annotations import Annotations

    Annotations(index_name(gallery)).rename_search(name, new)
    print(f"{name} renamed to {new}.")


@cli.command()
def delete(name: Name, gallery: IndexName = None) -> None:
    """Delete a saved search."""
    from vsdemo.data.catalog.annotations import Annotations

    Annotations(index_name(gallery)).delete_search(name)
    print(f"{name} deleted.")
