"""What is asked of rows that a refresh has written, before they are published.

Take from it: `row_counts.refuse_lost_rows`, `keys.refuse_duplicates`, `expiry.with_row_expiry`.
What is refused here is never seen by a reader; nothing here decides how rows are written.
"""
