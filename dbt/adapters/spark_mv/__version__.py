"""The one place that holds the version: the build and `dbt debug` read it here."""

version = "0.1.0"
