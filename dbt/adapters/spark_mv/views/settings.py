"""Settings of a session that belong to a definition: those that Spark keeps with its own views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Always kept, whether somebody has set them or not.
ALWAYS_KEPT = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
)
# Of what is set, Spark's CREATE VIEW leaves these out: they say how a query runs, not what it is.
_OF_EXECUTION = (
    "spark.sql.optimizer.",
    "spark.sql.codegen.",
    "spark.sql.execution.",
    "spark.sql.shuffle.",
    "spark.sql.adaptive.",
    "spark.sql.hive.convert",
    "spark.sql.maven.",
    "spark.sql.view.maxNestedViewDepth",
    "spark.sql.analyzer.singlePassResolver.dualRunWithLegacy",
    "spark.sql.analyzer.singlePassResolver.enabledTentatively",
)
# So do we with these: where tables are, how they are written, what is shown, when data moves.
_OF_THE_PLACE = (
    "spark.sql.artifact.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.catalog",
    "spark.sql.cbo.",
    "spark.sql.debug.",
    "spark.sql.defaultCatalog",
    "spark.sql.files.max",
    "spark.sql.files.min",
    "spark.sql.files.openCostInBytes",
    "spark.sql.iceberg.",
    "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.join.",
    "spark.sql.maxPlanStringLength",
    "spark.sql.redaction.",
    "spark.sql.repl.",
    "spark.sql.sources.default",
    "spark.sql.sources.partitionOverwriteMode",
    "spark.sql.statistics.",
    "spark.sql.streaming.",
    "spark.sql.thriftServer.",
    "spark.sql.ui.",
    "spark.sql.variable.substitute",
)
# Connections set these for what they show of rows, and so does a Thrift server.
_OF_THE_CLIENT = (
    "spark.sql.binaryOutputStyle",
    "spark.sql.connect.",
    "spark.sql.datetime.java8API.",
    "spark.sql.pyspark.",
    "spark.sql.session.localRelation",
    "spark.sql.thriftserver.",
)
# These cannot be set in a session at all.
_OF_THE_START = (
    "spark.sql.broadcastExchange.",
    "spark.sql.cache.serializer",
    "spark.sql.event.",
    "spark.sql.extensions",
    "spark.sql.filesourceTableRelationCacheSize",
    "spark.sql.globalTempDatabase",
    "spark.sql.hive.metastore.",
    "spark.sql.hive.thriftServer.",
    "spark.sql.hive.version",
    "spark.sql.legacy.sessionInitWithConfigDefaults",
    "spark.sql.metadataCacheTTLSeconds",
    "spark.sql.queryExecutionListeners",
    "spark.sql.resultQueryStage.",
    "spark.sql.sources.disabledJdbcConnProviderList",
    "spark.sql.sources.schemaStringLengthThreshold",
    "spark.sql.subquery.",
    "spark.sql.warehouse.dir",
)
_TRUTH = ("true", "false")
_UTC = frozenset(
    "UTC Etc/UTC UCT Etc/UCT Zulu Etc/Zulu Universal Etc/Universal Z GMT Etc/GMT Greenwich "
    "Etc/Greenwich GMT0 Etc/GMT0 Etc/GMT+0 Etc/GMT-0 +00:00".split()
)
_LEFT_OUT = (*_OF_EXECUTION, *_OF_THE_PLACE, *_OF_THE_CLIENT, *_OF_THE_START)


def is_kept(key: str) -> bool:
    """Whether a setting of this name belongs to a definition.

    >>> is_kept("spark.sql.timestampType"), is_kept("spark.sql.shuffle.partitions")
    (True, False)
    """
    return key in ALWAYS_KEPT or (key.startswith("spark.sql.") and not key.startswith(_LEFT_OUT))


def kept(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those of a session's settings that belong to a definition; what is true or false in lower
    case, as Spark prints what is not set.

    >>> kept([("spark.sql.ansi.enabled", "TRUE"), ("spark.sql.ui.retainedExecutions", "5")])
    {'spark.sql.ansi.enabled': 'true'}
    """
    return {
        key: value.lower() if value.lower() in _TRUTH else value
        for key, value in settings
        if is_kept(key)
    }


def spelt_as(settings: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """The settings, with the time zone in the words of `other` ones if both are names of UTC: which
    of them a machine has is by chance, and a definition would be another one on each.

    >>> spelt_as({"spark.sql.session.timeZone": "Etc/UTC"}, {"spark.sql.session.timeZone": "GMT"})
    {'spark.sql.session.timeZone': 'GMT'}
    """
    zone = ALWAYS_KEPT[0]
    both = {settings.get(zone, ""), other.get(zone, "")}
    return {**settings, **({zone: other[zone]} if both <= _UTC else {})}
