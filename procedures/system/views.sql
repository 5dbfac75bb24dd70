-- What SELECT can read from every database: the catalogue views that drivers, tools and people ask, with the columns that they use.
-- PER DATABASE: the last column, database_name, is not shown; a session sees the rows of its own database.

VIEW sys.databases (
    name sysname NOT NULL, database_id int NOT NULL, source_database_id int, owner_sid varbinary(85), create_date datetime, compatibility_level tinyint NOT NULL,
    collation_name sysname, user_access tinyint, user_access_desc nvarchar(60), is_read_only bit, is_auto_close_on bit NOT NULL, is_auto_shrink_on bit,
    state tinyint, state_desc nvarchar(60), is_in_standby bit, is_cleanly_shutdown bit, is_supplemental_logging_enabled bit, snapshot_isolation_state tinyint,
    snapshot_isolation_state_desc nvarchar(60), is_read_committed_snapshot_on bit, recovery_model tinyint, recovery_model_desc nvarchar(60), page_verify_option tinyint,
    page_verify_option_desc nvarchar(60), is_auto_create_stats_on bit, is_auto_create_stats_incremental_on bit, is_auto_update_stats_on bit,
    is_auto_update_stats_async_on bit, is_ansi_null_default_on bit, is_ansi_nulls_on bit, is_ansi_padding_on bit, is_ansi_warnings_on bit, is_arithabort_on bit,
    is_concat_null_yields_null_on bit, is_numeric_roundabort_on bit, is_quoted_identifier_on bit, is_recursive_triggers_on bit, is_cursor_close_on_commit_on bit,
    is_local_cursor_default bit, is_fulltext_enabled bit, is_trustworthy_on bit, is_db_chaining_on bit, is_parameterization_forced bit,
    is_master_key_encrypted_by_server bit NOT NULL, is_query_store_on bit, is_published bit NOT NULL, is_subscribed bit NOT NULL, is_merge_published bit NOT NULL,
    is_distributor bit NOT NULL, is_sync_with_backup bit NOT NULL, service_broker_guid uniqueidentifier, is_broker_enabled bit NOT NULL, log_reuse_wait tinyint,
    log_reuse_wait_desc nvarchar(60), is_date_correlation_on bit NOT NULL, is_cdc_enabled bit NOT NULL, is_encrypted bit, is_honor_broker_priority_on bit,
    replica_id uniqueidentifier, group_database_id uniqueidentifier, resource_pool_id int, default_language_lcid smallint, default_language_name nvarchar(128),
    default_fulltext_language_lcid int, default_fulltext_language_name nvarchar(128), is_nested_triggers_on bit, is_transform_noise_words_on bit,
    two_digit_year_cutoff smallint, containment tinyint, containment_desc nvarchar(60), target_recovery_time_in_seconds int, delayed_durability int,
    delayed_durability_desc nvarchar(60), is_memory_optimized_elevate_to_snapshot_on bit, is_federation_member bit, is_remote_data_archive_enabled bit,
    is_mixed_page_allocation_on bit, is_temporal_history_retention_enabled bit, catalog_collation_type int, catalog_collation_type_desc nvarchar(60),
    physical_database_name nvarchar(128), is_result_set_caching_on bit, is_accelerated_database_recovery_on bit, is_tempdb_spill_to_remote_store bit,
    is_stale_page_detection_on bit, is_memory_optimized_enabled bit, is_data_retention_enabled bit, is_ledger_on bit, is_change_feed_enabled bit,
    service nvarchar(32) NOT NULL, errata nvarchar(16) NOT NULL
)
SUMMARY The databases; service and errata are our own additions.
AS
SELECT name, id, NULL, x'01', nullif(created, 0), 160, 'SQL_Latin1_General_CP1_CI_AS', 0, 'MULTI_USER', 0, 0, 0, CASE WHEN damage IS NULL THEN 0 ELSE 4 END,
       CASE WHEN damage IS NULL THEN 'ONLINE' ELSE 'SUSPECT' END, 0, 0, 0, 0, 'OFF', 0, 1, 'FULL', 2, 'CHECKSUM', 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 'NOTHING', 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 'NONE', 0,
       CASE commit_mode WHEN 'relaxed' THEN 2 ELSE 0 END, CASE commit_mode WHEN 'relaxed' THEN 'FORCED' ELSE 'DISABLED' END, 0, 0, 0, 0, 0, 0, 'DATABASE_DEFAULT', name, 0,
       0, 0, 0, 0, 0, 0, 0, service, errata
FROM database;

VIEW sys.sysdatabases ALSO dbo.sysdatabases (
    name sysname NOT NULL, dbid smallint NOT NULL, sid varbinary(85), mode smallint, status int, status2 int, crdate datetime, reserved datetime, category int,
    cmptlevel tinyint NOT NULL, filename nvarchar(260), version smallint
)
SUMMARY The databases, in the old form.
AS
SELECT name, id, x'01', 0, 0, 0, coalesce(nullif(created, 0), 0), 0, 0, 160, file, 0 FROM database;

VIEW sys.schemas PER DATABASE (name sysname NOT NULL, schema_id int NOT NULL, principal_id int)
SUMMARY The schemas: dbo for the procedures and views of the database, sys and INFORMATION_SCHEMA for the system's.
AS
SELECT s.column1, s.column2, 1, d.name FROM database d, (VALUES ('dbo', 1), ('guest', 2), ('INFORMATION_SCHEMA', 3), ('sys', 4)) s;

-- A system view is dbo's, too, where a name without a schema must find it (sysobjects). No list shows these second names: a tool that
-- shows what is in dbo would show them among the database's own views.
VIEW sys.all_objects PER DATABASE (
    name sysname NOT NULL, object_id int NOT NULL, principal_id int, schema_id int NOT NULL, parent_object_id int NOT NULL, type char(2), type_desc nvarchar(60),
    create_date datetime, modify_date datetime, is_ms_shipped bit, is_published bit, is_schema_published bit
)
SUMMARY Procedures and views of the database and of the system.
AS
SELECT p.name, p.object_id, NULL, CASE p.schema_name WHEN 'sys' THEN 4 ELSE 1 END, 0, 'P ', 'SQL_STORED_PROCEDURE', nullif(p.created, 0), nullif(p.created, 0),
       p.schema_name = 'sys', 0, 0, p.database_name
FROM callable p
UNION ALL
SELECT v.name, v.object_id, NULL, CASE v.schema_name WHEN 'sys' THEN 4 WHEN 'INFORMATION_SCHEMA' THEN 3 ELSE 1 END, 0, 'V ', 'VIEW', nullif(v.created, 0),
       nullif(v.created, 0), v.service = 'system', 0, 0, v.database_name
FROM viewable v
WHERE v.service <> 'system' OR v.schema_name <> 'dbo' OR v.name = 'spt_values' AND v.database_name = 'master';

VIEW sys.objects PER DATABASE (LIKE sys.all_objects)
SUMMARY Procedures and views of the database.
AS
SELECT p.name, p.object_id, NULL, 1, 0, 'P ', 'SQL_STORED_PROCEDURE', nullif(d.created, 0), nullif(d.created, 0), 0, 0, 0, d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo'
UNION ALL
SELECT v.name, v.object_id, NULL, 1, 0, 'V ', 'VIEW', nullif(d.created, 0), nullif(d.created, 0), 0, 0, 0, d.name
FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system';

VIEW sys.procedures PER DATABASE (
    LIKE sys.all_objects, is_auto_executed bit, is_execution_replicated bit, is_repl_serializable_only bit, skips_repl_constraints bit, section nvarchar(128) NOT NULL, summary nvarchar(4000) NOT NULL
)
SUMMARY The procedures of the database; section and summary are our own additions.
AS
SELECT p.name, p.object_id, NULL, 1, 0, 'P ', 'SQL_STORED_PROCEDURE', nullif(d.created, 0), nullif(d.created, 0), 0, 0, 0, 0, 0, 0, 0, p.section, p.summary, d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo';

VIEW sys.all_views PER DATABASE (
    LIKE sys.all_objects, is_replicated bit, has_replication_filter bit, has_opaque_metadata bit NOT NULL, has_unchecked_assembly_data bit NOT NULL,
    with_check_option bit NOT NULL, is_date_correlation_view bit NOT NULL, is_tracked_by_cdc bit
)
SUMMARY The views of the database and of the system.
AS
SELECT v.name, v.object_id, NULL, CASE v.schema_name WHEN 'sys' THEN 4 WHEN 'INFORMATION_SCHEMA' THEN 3 ELSE 1 END, 0, 'V ', 'VIEW', nullif(v.created, 0),
       nullif(v.created, 0), v.service = 'system', 0, 0, 0, 0, 0, 0, 0, 0, 0, v.database_name
FROM viewable v
WHERE v.service <> 'system' OR v.schema_name <> 'dbo' OR v.name = 'spt_values' AND v.database_name = 'master';

VIEW sys.views PER DATABASE (LIKE sys.all_views)
SUMMARY The views of the database.
AS
SELECT * FROM sys_all_views WHERE is_ms_shipped = 0;

VIEW sys.all_parameters PER DATABASE (
    object_id int NOT NULL, name sysname, parameter_id int NOT NULL, system_type_id tinyint NOT NULL, user_type_id int NOT NULL, max_length smallint NOT NULL,
    precision tinyint NOT NULL, scale tinyint NOT NULL, is_output bit NOT NULL, is_cursor_ref bit NOT NULL, has_default_value bit NOT NULL,
    is_xml_document bit NOT NULL, default_value nvarchar(4000), xml_collection_id int NOT NULL, is_readonly bit NOT NULL, is_nullable bit,
    encryption_type int, encryption_type_desc nvarchar(64), encryption_algorithm_name sysname, column_encryption_key_id int, column_encryption_key_database_name sysname
)
SUMMARY The parameters of all procedures.
AS
SELECT x.object_id, x.name, x.parameter_id, s.system_type_id, s.system_type_id, s.max_length, s.precision, s.scale, x.is_output, 0, x.has_default, 0,
       x.default_text, 0, 0, x.nullable, NULL, NULL, NULL, NULL, NULL, p.database_name
FROM callable p JOIN meta_parameter x ON x.object_id = p.object_id JOIN meta_shape s ON s.shape = x.shape;

VIEW sys.parameters PER DATABASE (LIKE sys.all_parameters)
SUMMARY The parameters of the database's own procedures.
AS
SELECT x.object_id, x.name, x.parameter_id, s.system_type_id, s.system_type_id, s.max_length, s.precision, s.scale, x.is_output, 0, x.has_default, 0,
       x.default_text, 0, 0, x.nullable, NULL, NULL, NULL, NULL, NULL, d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo'
JOIN meta_parameter x ON x.object_id = p.object_id JOIN meta_shape s ON s.shape = x.shape;

VIEW sys.all_columns PER DATABASE (
    object_id int NOT NULL, name sysname, column_id int NOT NULL, system_type_id tinyint NOT NULL, user_type_id int NOT NULL, max_length smallint NOT NULL,
    precision tinyint NOT NULL, scale tinyint NOT NULL, collation_name sysname, is_nullable bit, is_ansi_padded bit NOT NULL, is_rowguidcol bit NOT NULL,
    is_identity bit NOT NULL, is_filestream bit NOT NULL, is_replicated bit, is_non_sql_subscribed bit, is_merge_published bit, is_dts_replicated bit,
    is_computed bit NOT NULL, is_xml_document bit NOT NULL, xml_collection_id int NOT NULL, default_object_id int NOT NULL, rule_object_id int NOT NULL, is_sparse bit,
    is_column_set bit, generated_always_type tinyint, generated_always_type_desc nvarchar(60), encryption_type int, encryption_type_desc nvarchar(64),
    encryption_algorithm_name sysname, column_encryption_key_id int, column_encryption_key_database_name sysname, is_hidden bit NOT NULL, is_masked bit NOT NULL,
    graph_type int, graph_type_desc nvarchar(60), is_data_deletion_filter_column bit, ledger_view_column_type tinyint, is_dropped_ledger_column bit
)
SUMMARY The columns of all views.
AS
SELECT c.object_id, c.name, c.column_id, s.system_type_id, s.system_type_id, s.max_length, s.precision, s.scale,
       CASE WHEN s.is_text <> 0 AND s.type_name <> 'xml' THEN 'SQL_Latin1_General_CP1_CI_AS' END, c.nullable, 1, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'NOT_APPLICABLE', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 0, v.database_name
FROM viewable v JOIN meta_view_column c ON c.object_id = v.object_id JOIN meta_shape s ON s.shape = c.shape;

VIEW sys.columns PER DATABASE (LIKE sys.all_columns)
SUMMARY The columns of the database's own views.
AS
SELECT c.object_id, c.name, c.column_id, s.system_type_id, s.system_type_id, s.max_length, s.precision, s.scale,
       CASE WHEN s.is_text <> 0 AND s.type_name <> 'xml' THEN 'SQL_Latin1_General_CP1_CI_AS' END, c.nullable, 1, 0, 0, 0, 0, 0,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'NOT_APPLICABLE', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, 0, d.name
FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system'
JOIN meta_view_column c ON c.object_id = v.object_id JOIN meta_shape s ON s.shape = c.shape;

VIEW sys.sql_modules PER DATABASE (
    object_id int NOT NULL, definition nvarchar(max), uses_ansi_nulls bit, uses_quoted_identifier bit, is_schema_bound bit, uses_database_collation bit,
    is_recompiled bit, null_on_null_input bit, execute_as_principal_id int, uses_native_compilation bit, is_inlineable bit
)
SUMMARY The declarations of the database's own procedures and views.
AS
SELECT p.object_id, p.source, 1, 1, 0, 0, 0, 0, NULL, 0, 0, d.name FROM database d JOIN meta_procedure p ON p.service = d.service
UNION ALL
SELECT v.object_id, v.definition, 1, 1, 0, 0, 0, 0, NULL, 0, 0, d.name FROM database d JOIN meta_view v ON v.service = d.service;

VIEW sys.types (
    name sysname NOT NULL, system_type_id tinyint NOT NULL, user_type_id int NOT NULL, schema_id int NOT NULL, principal_id int, max_length smallint NOT NULL,
    precision tinyint NOT NULL, scale tinyint NOT NULL, collation_name sysname, is_nullable bit, is_user_defined bit NOT NULL, is_assembly_type bit NOT NULL,
    default_object_id int NOT NULL, rule_object_id int NOT NULL, is_table_type bit NOT NULL
)
SUMMARY The data types.
AS
SELECT name, system_type_id, user_type_id, 4, NULL, max_length, sys_precision, sys_scale,
       CASE WHEN name IN ('char', 'varchar', 'text', 'nchar', 'nvarchar', 'ntext', 'sysname') THEN 'SQL_Latin1_General_CP1_CI_AS' END,
       name <> 'sysname', 0, 0, 0, 0, 0
FROM meta_type;

VIEW sys.configurations (
    configuration_id int NOT NULL, name nvarchar(35) NOT NULL, value int, minimum int, maximum int, value_in_use int, description nvarchar(255) NOT NULL,
    is_dynamic bit NOT NULL, is_advanced bit NOT NULL
)
SUMMARY A few options that tools ask for, with the values that hold here.
AS
SELECT column1, column2, column3, column4, column5, column3, column6, 0, column7 FROM (VALUES
    (101, 'recovery interval (min)', 0, 0, 32767, 'Maximum recovery interval in minutes', 1),
    (102, 'allow updates', 0, 0, 1, 'Allow updates to system tables', 0),
    (103, 'user connections', 0, 0, 32767, 'Number of user connections allowed', 1),
    (115, 'nested triggers', 0, 0, 1, 'Allow triggers to be invoked within triggers', 0),
    (117, 'remote access', 0, 0, 1, 'Allow remote access', 0),
    (518, 'show advanced options', 0, 0, 1, 'show advanced options', 0),
    (1126, 'default language', 0, 0, 9999, 'default language', 0),
    (1534, 'user options', 0, 0, 32767, 'user options', 0),
    (16390, 'xp_cmdshell', 0, 0, 1, 'Enable or disable command shell', 1)) AS options;

VIEW sys.sysobjects ALSO dbo.sysobjects PER DATABASE (
    name sysname NOT NULL, id int NOT NULL, xtype char(2) NOT NULL, uid smallint, info smallint, status int, parent_obj int NOT NULL, crdate datetime, type char(2)
)
SUMMARY Procedures and views of the database, in the old form.
AS
SELECT p.name, p.object_id, 'P ', 1, 0, 0, 0, nullif(d.created, 0), 'P ', d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo'
UNION ALL
SELECT v.name, v.object_id, 'V ', 1, 0, 0, 0, nullif(d.created, 0), 'V ', d.name
FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system';

VIEW INFORMATION_SCHEMA.ROUTINES PER DATABASE (
    SPECIFIC_CATALOG nvarchar(128), SPECIFIC_SCHEMA nvarchar(128), SPECIFIC_NAME nvarchar(128) NOT NULL, ROUTINE_CATALOG nvarchar(128),
    ROUTINE_SCHEMA nvarchar(128), ROUTINE_NAME nvarchar(128) NOT NULL, ROUTINE_TYPE nvarchar(20), DATA_TYPE nvarchar(128), ROUTINE_BODY nvarchar(30),
    ROUTINE_DEFINITION nvarchar(4000), IS_DETERMINISTIC nvarchar(10), SQL_DATA_ACCESS nvarchar(30), CREATED datetime, LAST_ALTERED datetime
)
SUMMARY The procedures of the database.
AS
SELECT d.name, p.schema_name, p.name, d.name, p.schema_name, p.name, 'PROCEDURE', NULL, 'SQL', substr(p.source, 1, 4000), 'NO',
       CASE WHEN p.read_only <> 0 THEN 'READS' ELSE 'MODIFIES' END, nullif(d.created, 0), nullif(d.created, 0), d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo';

VIEW INFORMATION_SCHEMA.PARAMETERS PER DATABASE (
    SPECIFIC_CATALOG nvarchar(128), SPECIFIC_SCHEMA nvarchar(128), SPECIFIC_NAME nvarchar(128) NOT NULL, ORDINAL_POSITION int NOT NULL,
    PARAMETER_MODE nvarchar(10), IS_RESULT nvarchar(10), AS_LOCATOR nvarchar(10), PARAMETER_NAME nvarchar(128), DATA_TYPE nvarchar(128),
    CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int, COLLATION_NAME nvarchar(128), CHARACTER_SET_NAME nvarchar(128), NUMERIC_PRECISION tinyint,
    NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, DATETIME_PRECISION smallint
)
SUMMARY The parameters of the database's own procedures.
AS
SELECT d.name, p.schema_name, p.name, x.parameter_id, CASE WHEN x.is_output <> 0 THEN 'INOUT' ELSE 'IN' END, 'NO', 'NO', x.name, s.type_name,
       s.char_length, CASE WHEN s.char_length = -1 THEN -1 ELSE s.octet_length END,
       CASE WHEN s.is_text <> 0 AND s.type_name <> 'xml' THEN 'SQL_Latin1_General_CP1_CI_AS' END,
       CASE WHEN s.type_name IN ('char', 'varchar', 'text') THEN 'iso_1' WHEN s.type_name IN ('nchar', 'nvarchar', 'ntext') THEN 'UNICODE' END,
       s.numeric_precision, CASE WHEN s.numeric_precision IS NOT NULL THEN s.radix END, s.numeric_scale, s.datetime_precision, d.name
FROM database d JOIN meta_procedure p ON p.service = d.service AND p.schema_name = 'dbo'
JOIN meta_parameter x ON x.object_id = p.object_id JOIN meta_shape s ON s.shape = x.shape;

VIEW INFORMATION_SCHEMA.SCHEMATA PER DATABASE (
    CATALOG_NAME nvarchar(128), SCHEMA_NAME nvarchar(128) NOT NULL, SCHEMA_OWNER nvarchar(128), DEFAULT_CHARACTER_SET_CATALOG varchar(6),
    DEFAULT_CHARACTER_SET_SCHEMA varchar(3), DEFAULT_CHARACTER_SET_NAME nvarchar(128)
)
SUMMARY The schemas.
AS
SELECT d.name, s.column1, 'dbo', NULL, NULL, 'iso_1', d.name FROM database d, (VALUES ('dbo'), ('guest'), ('INFORMATION_SCHEMA'), ('sys')) s;

VIEW INFORMATION_SCHEMA.TABLES PER DATABASE (TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128) NOT NULL, TABLE_TYPE varchar(10))
SUMMARY The views of the database.
AS
SELECT d.name, v.schema_name, v.name, 'VIEW', d.name FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system';

VIEW INFORMATION_SCHEMA.VIEWS PER DATABASE (
    TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128) NOT NULL, VIEW_DEFINITION nvarchar(4000), CHECK_OPTION varchar(7),
    IS_UPDATABLE varchar(2) NOT NULL
)
SUMMARY The views of the database with their text.
AS
SELECT d.name, v.schema_name, v.name, substr(v.definition, 1, 4000), 'NONE', 'NO', d.name
FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system';

VIEW INFORMATION_SCHEMA.COLUMNS PER DATABASE (
    TABLE_CATALOG nvarchar(128), TABLE_SCHEMA nvarchar(128), TABLE_NAME nvarchar(128) NOT NULL, COLUMN_NAME nvarchar(128), ORDINAL_POSITION int,
    COLUMN_DEFAULT nvarchar(4000), IS_NULLABLE varchar(3), DATA_TYPE nvarchar(128), CHARACTER_MAXIMUM_LENGTH int, CHARACTER_OCTET_LENGTH int,
    NUMERIC_PRECISION tinyint, NUMERIC_PRECISION_RADIX smallint, NUMERIC_SCALE int, DATETIME_PRECISION smallint, CHARACTER_SET_NAME nvarchar(128),
    COLLATION_NAME nvarchar(128)
)
SUMMARY The columns of the database's own views.
AS
SELECT d.name, v.schema_name, v.name, c.name, c.column_id, NULL, CASE WHEN c.nullable <> 0 THEN 'YES' ELSE 'NO' END, s.type_name,
       s.char_length, CASE WHEN s.char_length = -1 THEN -1 ELSE s.octet_length END, s.numeric_precision,
       CASE WHEN s.numeric_precision IS NOT NULL THEN s.radix END, s.numeric_scale, s.datetime_precision,
       CASE WHEN s.type_name IN ('char', 'varchar', 'text') THEN 'iso_1' WHEN s.type_name IN ('nchar', 'nvarchar', 'ntext') THEN 'UNICODE' END,
       CASE WHEN s.is_text <> 0 AND s.type_name <> 'xml' THEN 'SQL_Latin1_General_CP1_CI_AS' END, d.name
FROM database d JOIN meta_view v ON v.service = d.service AND v.service <> 'system'
JOIN meta_view_column c ON c.object_id = v.object_id JOIN meta_shape s ON s.shape = c.shape;
