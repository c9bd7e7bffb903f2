"""Spark on this machine, for `method: embedded`: folder, jars, Java, class data archive.

Take from it: `warehouse.embedded_conf`, `jars`, `java`. An optional comfort: with a Spark of
your own none of it is used. It knows nothing of what will be run.
"""
