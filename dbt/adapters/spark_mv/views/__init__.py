"""What a materialized view is: its definition, options, dependencies. Frozen values."""
