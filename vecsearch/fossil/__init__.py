"""Reading a Fossil repository, without a `fossil` program and without ever writing.

    repository   opening, settings, tips of branches, what may be shown (SQL)
    artifact     one artifact's bytes, verified
    manifest     the cards of a structural artifact (pure)
    checkin_files  the files of a check-in
    decode       bytes of a file to text (pure)
    corpus/      what belongs into the index, one module per kind of content
    access       what a visitor may read
    links        the page of Fossil where a hit opens (pure)

Nothing here knows chunks, vectors or tables of ours. Facts about Fossil are from its own sources
(src/*.c, www/fileformat.wiki); each is named where it is used.
"""
