"""Settings of a session under which Spark reads a text as it is read here."""

from __future__ import annotations

from collections.abc import Mapping

# Spark keeps them with its views, and they say nothing but how a statement runs or writes.
_OF_THE_RUN = (
    "spark.sql.addPartitionInBatch.",
    "spark.sql.broadcastTimeout",
    "spark.sql.bucketing.",
    "spark.sql.cartesianProductExec.",
    "spark.sql.columnVector.",
    "spark.sql.error.messageFormat",
    "spark.sql.exchange.",
    "spark.sql.inMemoryTableScanStatistics.",
    "spark.sql.leafNodeDefaultParallelism",
    "spark.sql.limit.",
    "spark.sql.maxBroadcastTableSize",
    "spark.sql.maxMetadataStringLength",
    "spark.sql.objectHashAggregate.",
    "spark.sql.orc.compression.codec",
    "spark.sql.parquet.compression.codec",
    "spark.sql.planChange",
    "spark.sql.python.",
    "spark.sql.sessionWindow.",
    "spark.sql.sort",
    "spark.sql.sources.bucketing.",
    "spark.sql.sources.parallelPartitionDiscovery.",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.subexpressionElimination.",
    "spark.sql.windowExec.",
)
# Values of these do not say what a text means.
_ANY_VALUE = (
    *_OF_THE_RUN,
    *("spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.caseSensitive"),
    "spark.sql.analyzer.failAmbiguousSelfJoin",
    "spark.sql.analyzer.maxIterations",
    "spark.sql.avro.",
    "spark.sql.chunkBase64String.",
    "spark.sql.classic.",
    "spark.sql.cli.",
    "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.constraintPropagation.",
    "spark.sql.crossJoin.enabled",
    "spark.sql.csv.",
    "spark.sql.cteRe",
    "spark.sql.data",
    "spark.sql.default",
    "spark.sql.emr.",
    "spark.sql.expressionTreeChangeLog.",
    "spark.sql.extendedExplainProviders",
    "spark.sql.files.",
    "spark.sql.hive.",
    "spark.sql.json.",
    "spark.sql.max",
    "spark.sql.orc.",
    "spark.sql.parquet.",
    "spark.sql.pipelines.",
    "spark.sql.pivotMaxValues",
    "spark.sql.planner.",
    "spark.sql.requireAllClusterKeys",
    "spark.sql.scriptTransformation.",
    "spark.sql.scripting.",
    "spark.sql.shuffle",
    "spark.sql.sources.",
    "spark.sql.stackTracesInDataFrameContext",
    "spark.sql.timeTravel",
    "spark.sql.transposeMaxValues",
    "spark.sql.truncateTable.",
    "spark.sql.tvf.",
    "spark.sql.udt.",
    "spark.sql.variant.",
    # How files, tables and other databases are read and written, and how days are printed.
    "spark.sql.legacy.allowNonEmptyLocationInCTAS",
    "spark.sql.legacy.avro.",
    "spark.sql.legacy.bucketedTableScan.",
    "spark.sql.legacy.createHiveTableByDefault",
    "spark.sql.legacy.csv.",
    "spark.sql.legacy.db2.",
    "spark.sql.legacy.json.",
    "spark.sql.legacy.keepCommandOutputSchema",
    "spark.sql.legacy.mssqlserver.",
    "spark.sql.legacy.mysql.",
    "spark.sql.legacy.oracle.",
    "spark.sql.legacy.parquet.",
    "spark.sql.legacy.postgres.",
    "spark.sql.legacy.replaceDatabricksSparkAvro.",
    "spark.sql.legacy.setCommandRejectsSparkCoreConfs",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.legacy.useV1Command",
)
# Of these one value is the one under which texts are read here.
_ONE_VALUE = {
    "spark.sql.allowNamedFunctionArguments": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.charAsVarchar": "false",
    "spark.sql.collation.allowInMapKeys": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.function.concatBinaryAsString": "false",
    "spark.sql.function.eltOutputAsString": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.icu.caseMappings.enabled": "true",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
    "spark.sql.lateralColumnAlias.enableImplicitResolution": "true",
    "spark.sql.legacy.ctePrecedencePolicy": "corrected",
    "spark.sql.legacy.followThreeValuedLogicInArrayExists": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.mapKeyDedupPolicy": "exception",
    "spark.sql.operatorPipeSyntaxEnabled": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.timestampType": "timestamp_ltz",
}
_LEGACY = "spark.sql.legacy."


def of_meaning(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of a session's settings that can have a part in what the rows of a query are.

    >>> of_meaning({"spark.sql.ansi.enabled": "true", "spark.sql.broadcastTimeout": "600"})
    {'spark.sql.ansi.enabled': 'true'}
    """
    return {key: value for key, value in settings.items() if not key.startswith(_OF_THE_RUN)}


def misread(settings: Mapping[str, str]) -> str | None:
    """The first of a session's settings of which it is not known that Spark reads texts as they
    are read here; None if there is none.

    >>> misread({"spark.sql.session.timeZone": "UTC", "spark.sql.groupByOrdinal": "true"})
    >>> misread({"spark.sql.groupByOrdinal": "false"})
    'spark.sql.groupByOrdinal'
    """
    return next((key for key, value in sorted(settings.items()) if not _is_known(key, value)), None)


def _is_known(key: str, value: str) -> bool:
    expected = _ONE_VALUE.get(key, "false" if key.startswith(_LEGACY) else None)
    return key.startswith(_ANY_VALUE) or (expected is not None and value.lower() == expected)
