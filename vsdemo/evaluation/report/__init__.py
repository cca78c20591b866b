"""checkpoints/README.md: measured results as records, and the page generated from them.

To add a result: `python -m vsdemo evaluate RUN --record checkpoints/results/TOPIC/NAME.json` (or
`difference`, `table`, `lab`), name the record in template.md, then `python -m vsdemo report`. The
same command with the same file measures a record again; its title and the paper's figures stay.
"""
