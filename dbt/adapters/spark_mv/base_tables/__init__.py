"""What a base table can tell us: what it is, and which version of it a query would read."""
