"""Catalogs: what is known about the photos in the user's own folders, in one SQLite file each.

`scan` lists the files, `examine` reads one, `catalog` keeps what was read, and `search.indexing`
does it for a whole folder. A photo is never changed, moved or copied; thumbnails are kept in the
catalog. `annotations` keeps labels and saved searches, which are the user's own work, in a separate
file; `keywords` writes labels into XMP sidecars on request.
"""
