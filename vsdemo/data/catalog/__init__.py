"""Catalogs: what is known of the photos in a folder of the user's own, in one SQLite file each.

`scan` lists the files, `examine` reads one, `catalog` keeps what was read, and `search.indexing`
does it for a whole folder. A photo is never changed, moved or copied; thumbnails are kept beside.
`annotations` keeps labels and saved searches, which are the user's own work, in a file of its own;
`keywords` writes labels into XMP sidecars on request.
"""
