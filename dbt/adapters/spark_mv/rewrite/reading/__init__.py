"""Reads queries into the normal form of blocks.

`blocks` may be imported by whoever has the tree of a query. Nothing here knows of stored views, or
how they answer a block.
"""
