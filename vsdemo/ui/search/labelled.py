"""Searches by a label: the photos that it probably fits, or those that it is unsure of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from vsdemo.data.catalog.annotations import Annotations
from vsdemo.search.engine import Engine
from vsdemo.search.labels import train_on_gallery
from vsdemo.search.query import PhotoScores, Query, Term
from vsdemo.ui.search.refinement import Refinement


def labelled_query(
    query: Query, engine: Engine, kept: Annotations, refinement: Refinement
) -> Query:
    """Return a query with a label as a further term, without the photos that were marked for it.

    Raises:
        UserError: There is no such label, or no photo is marked that it fits.
    """
    label = kept.label(refinement.label)
    trained = train_on_gallery(engine, label.examples)
    scores, unit = trained.probabilities, "probability"
    if refinement.is_unsure:
        scores, unit = 1 - 2 * np.abs(scores - 0.5), "doubt"
    term = Term(PhotoScores(torch.from_numpy(scores).float(), unit, trained.reliability))
    is_marked = np.isin(np.array(trained.keys), [*trained.positives, *trained.negatives])
    searched = ~is_marked
    if query.within is not None:
        region = np.zeros_like(searched)
        region[list(query.within)] = True
        searched &= region
    within = tuple(np.flatnonzero(searched).tolist())
    return replace(query, terms=(*query.terms, term), within=within)
