"""Rewrites statements so that views answer parts of them: which views, at which versions, and what
it saves; `rewriter.Rewriter` is what the pipeline calls.

The rules by which a view answers a block are in `rewrite`, and know nothing of catalogs.
"""
