"""The user's own photos, in a folder or an index, with or without captions.

`texts`, `table` and `karpathy_captions` read captions in three formats, `captions` chooses among
them, `content_split` divides photos into splits, `folder` has the data sets, and `training_check`
says what keeps a training from starting.
"""
