"""Creations that several commands may be at in the same moment."""

from __future__ import annotations

from tenacity import retry, stop_after_attempt, wait_random_exponential

# Of what another command creates, too, a catalog may say that it failed, with IF NOT EXISTS and
# OR REPLACE as without; the next attempt finds it.
beside_others = retry(
    stop=stop_after_attempt(5), wait=wait_random_exponential(0.2, max=2), reraise=True
)
