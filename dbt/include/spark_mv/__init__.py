"""The dbt package (macros) that belongs to the adapter."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
