"""What every other package may use: errors, reasons, and the protocols that Spark is reached by.

Take from it: `errors` (one class per cause), `reasons` (why something was decided), `executor`
(`Executor`, `CatalogClient`), `sessions`, `workers`, `creation`, `failpoints`. It knows no SQL, no
dbt and no Spark.
"""
