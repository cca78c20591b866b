"""Converts saved searches to what the tab shows, and back."""

from __future__ import annotations

from pydantic import ValidationError

from vsdemo.core.errors import UserError
from vsdemo.data.catalog.saved_search import SavedSearch, checked_name
from vsdemo.data.galleries import Gallery
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.tabs import Selection


def to_saved(state: SearchState, name: str, gallery: Gallery) -> SavedSearch:
    """Return what is kept of a search.

    Raises:
        UserError: The name is not valid, or the search depends on what cannot be kept.
    """
    refinement = state.refinement
    if isinstance(state.similar_to, str):
        raise UserError("A search by an uploaded photo cannot be saved; use one of the gallery.")
    if refinement.is_private:
        raise UserError("A search by a label or by a region of the map cannot be saved.")
    photos = () if state.similar_to is None else (gallery.keys[state.similar_to],)
    try:
        return SavedSearch(
            name=checked_name(name),
            sentences=state.text,
            photos=photos,
            photo_weight=refinement.photo_weight,
            filter=refinement.conditions,
            order=refinement.order,
            groups_copies=refinement.groups_copies,
            model=state.model,
        )
    except ValidationError:
        raise UserError("This search is too long to be saved; shorten it.") from None


def to_state(search: SavedSearch, gallery: Gallery, k: int) -> SearchState:
    """Return the state in which a saved search begins.

    Raises:
        UserError: Its photo is not in the gallery any more.
    """
    photo = None
    if search.photos:
        if search.photos[0] not in gallery.keys:
            raise UserError("The photo of this search is no longer in the index.")
        photo = gallery.keys.index(search.photos[0])
    return SearchState(
        search.sentences,
        search.model,
        gallery.key,
        k,
        similar_to=photo,
        refinement=Refinement(
            search.filter, search.order, search.groups_copies, search.photo_weight
        ),
        selection=Selection(search.sentences),
    )
