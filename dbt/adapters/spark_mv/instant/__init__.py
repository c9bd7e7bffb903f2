"""Questions about materialized views of an embedded folder, answered without Spark.

Take from it: `folder.ask`, and `cli`, which is the program `spark-mv`. The files are read as Spark
would read them: one committed metadata file for each table. What they do not say is `NeedsSpark`,
never a guess. It writes nothing, and knows neither dbt nor pyspark.
"""
