-- Catalogue views that graphical tools and frameworks ask for at connect and for their trees, those with content.
-- OVER names what the session knows and no table holds (src/metadata/rows.c); AS reads it as a table.
-- PER LOGIN: the last column, login_name, is not shown; who is not an administrator sees the rows without one and his own.

ROWS server (name ntext, distribution ntext, release ntext, architecture ntext, cpus bigint, memory bigint, started datetime, up bigint, pid int, max_connections int);
ROWS sessions (spid int, login_time datetime, host ntext, program ntext, process int, login ntext, status ntext, command ntext, database ntext,
    blocker int, last_request datetime, address ntext, scheme ntext, encrypted int, isolation int, transactions int, requests bigint, text_size int, date_first int,
    lock_timeout int, quoted_identifier int, arithabort int, ansi_null_dflt_on int, ansi_warnings int, ansi_padding int, ansi_nulls int, concat_null_yields_null int);
ROWS numbers (name ntext, database ntext, procedure ntext, label ntext, value float);
ROWS procedures (database ntext, procedure ntext, calls bigint, errors bigint, queue_total float, queue_p50 float, queue_p99 float, run_total float, run_p50 float,
    run_p99 float);

-- ---- objects of the system

VIEW sys.system_objects PER DATABASE (LIKE sys.all_objects)
SUMMARY The procedures and views of the system.
AS
SELECT name, object_id, principal_id, schema_id, parent_object_id, type, type_desc, create_date, modify_date, is_ms_shipped, is_published,
       is_schema_published, database_name
FROM sys_all_objects WHERE is_ms_shipped <> 0;

VIEW sys.system_views PER DATABASE (LIKE sys.all_views)
SUMMARY The views of the system.
AS
SELECT * FROM sys_all_views WHERE is_ms_shipped <> 0;

VIEW sys.system_columns PER DATABASE (LIKE sys.all_columns)
SUMMARY The columns of the system's views.
AS
SELECT c.* FROM sys_all_columns c JOIN meta_view v ON v.object_id = c.object_id AND v.service = 'system';

VIEW sys.system_parameters PER DATABASE (LIKE sys.all_parameters)
SUMMARY The parameters of the system's procedures.
AS
SELECT x.* FROM sys_all_parameters x JOIN meta_procedure p ON p.object_id = x.object_id AND p.service = 'system';

VIEW sys.all_sql_modules PER DATABASE (LIKE sys.sql_modules)
SUMMARY The declarations of all procedures and views.
AS
SELECT p.object_id, p.source, 1, 1, 0, 0, 0, 0, NULL, 0, 0, p.database_name FROM callable p
UNION ALL
SELECT v.object_id, v.definition, 1, 1, 0, 0, 0, 0, NULL, 0, 0, v.database_name FROM viewable v;

VIEW sys.system_sql_modules PER DATABASE (LIKE sys.sql_modules)
SUMMARY The declarations of the system's procedures and views.
AS
SELECT p.object_id, p.source, 1, 1, 0, 0, 0, 0, NULL, 0, 0, p.database_name FROM callable p WHERE p.service = 'system'
UNION ALL
SELECT v.object_id, v.definition, 1, 1, 0, 0, 0, 0, NULL, 0, 0, v.database_name FROM viewable v WHERE v.service = 'system';

VIEW sys.parameter_type_usages PER DATABASE (object_id int NOT NULL, parameter_id int NOT NULL, user_type_id int NOT NULL)
SUMMARY Which parameter has which type.
AS
SELECT object_id, parameter_id, user_type_id, database_name FROM sys_parameters;

VIEW sys.column_type_usages PER DATABASE (object_id int NOT NULL, column_id int NOT NULL, user_type_id int NOT NULL)
SUMMARY Which column has which type.
AS
SELECT object_id, column_id, user_type_id, database_name FROM sys_columns;

-- ---- logins, users, roles, rights

VIEW sys.server_principals PER LOGIN (
    name sysname NOT NULL, principal_id int NOT NULL, sid varbinary(85), type char(1) NOT NULL, type_desc nvarchar(60), is_disabled bit, create_date datetime NOT NULL,
    modify_date datetime NOT NULL, default_database_name sysname, default_language_name sysname, credential_id int, owning_principal_id int, is_fixed_role bit NOT NULL
)
SUMMARY The logins and the fixed roles of the server. To those who are no administrators: their own login, sa and the roles.
AS
SELECT name, id, sid, 'S', 'SQL_LOGIN', disabled, created, changed, coalesce(default_database, 'master'), 'us_english', NULL, NULL, 0,
       CASE WHEN id <> 1 THEN name END
FROM login
UNION ALL
SELECT r.column1, r.column2, NULL, 'R', 'SERVER_ROLE', 0, 0, 0, NULL, NULL, NULL, 1, 1, NULL
FROM (VALUES ('public', 2), ('sysadmin', 3), ('securityadmin', 4), ('serveradmin', 5), ('setupadmin', 6), ('processadmin', 7), ('diskadmin', 8),
             ('dbcreator', 9), ('bulkadmin', 10)) r;

VIEW sys.sql_logins PER LOGIN (LIKE sys.server_principals, is_policy_checked bit, is_expiration_checked bit, password_hash varbinary(256))
SUMMARY The logins; their passwords are never shown.
AS
SELECT name, principal_id, sid, type, type_desc, is_disabled, create_date, modify_date, default_database_name, default_language_name, credential_id,
       owning_principal_id, is_fixed_role, 0, 0, NULL, login_name
FROM sys_server_principals WHERE type = 'S';

VIEW sys.server_role_members PER LOGIN (role_principal_id int NOT NULL, member_principal_id int NOT NULL)
SUMMARY Administrators are members of sysadmin.
AS
SELECT 3, id, CASE WHEN id <> 1 THEN name END FROM login WHERE admin <> 0;

VIEW sys.server_permissions PER LOGIN (
    class tinyint NOT NULL, class_desc nvarchar(60), major_id int NOT NULL, minor_id int NOT NULL, grantee_principal_id int NOT NULL,
    grantor_principal_id int NOT NULL, type char(4) NOT NULL, permission_name nvarchar(128), state char(1) NOT NULL, state_desc nvarchar(60)
)
SUMMARY Every login that is not disabled may connect.
AS
SELECT 100, 'SERVER', 0, 0, id, 1, 'COSQ', 'CONNECT SQL', 'G', 'GRANT', CASE WHEN id <> 1 THEN name END FROM login WHERE disabled = 0;

VIEW sys.database_principals PER DATABASE PER LOGIN (
    name sysname NOT NULL, principal_id int NOT NULL, type char(1) NOT NULL, type_desc nvarchar(60), default_schema_name sysname, create_date datetime NOT NULL,
    modify_date datetime NOT NULL, owning_principal_id int, sid varbinary(85), is_fixed_role bit NOT NULL, authentication_type int NOT NULL,
    authentication_type_desc nvarchar(60), default_language_name sysname, default_language_lcid int, allow_encrypted_value_modifications bit NOT NULL
)
SUMMARY The fixed users and roles, and the logins that have a right in the database.
AS
SELECT f.column1, f.column2, f.column3, CASE f.column3 WHEN 'R' THEN 'DATABASE_ROLE' ELSE 'SQL_USER' END, CASE WHEN f.column2 IN (1, 2) THEN f.column1 END,
       d.created, d.created, CASE f.column3 WHEN 'R' THEN 1 END, CASE f.column2 WHEN 1 THEN x'01' WHEN 2 THEN x'00' END, CASE WHEN f.column2 >= 16384 THEN 1 ELSE 0 END,
       CASE f.column2 WHEN 1 THEN 1 ELSE 0 END, CASE f.column2 WHEN 1 THEN 'INSTANCE' ELSE 'NONE' END, NULL, NULL, 0, d.name, NULL
FROM database d, (VALUES ('public', 0, 'R'), ('dbo', 1, 'S'), ('guest', 2, 'S'), ('INFORMATION_SCHEMA', 3, 'S'), ('sys', 4, 'S'), ('db_owner', 16384, 'R'),
    ('db_accessadmin', 16385, 'R'), ('db_securityadmin', 16386, 'R'), ('db_ddladmin', 16387, 'R'), ('db_backupoperator', 16389, 'R'),
    ('db_datareader', 16390, 'R'), ('db_datawriter', 16391, 'R'), ('db_denydatareader', 16392, 'R'), ('db_denydatawriter', 16393, 'R')) f
UNION ALL
SELECT l.name, l.id, 'S', 'SQL_USER', 'dbo', l.created, l.changed, NULL, l.sid, 0, 1, 'INSTANCE', NULL, NULL, 0, d.name, l.name
FROM permission p JOIN login l ON l.name = p.login JOIN database d ON d.name = p.database WHERE l.admin = 0 AND p.rights <> 0;

VIEW sys.database_role_members PER DATABASE (role_principal_id int NOT NULL, member_principal_id int NOT NULL)
SUMMARY dbo is a member of db_owner.
AS
SELECT 16384, 1, name FROM database;

VIEW sys.database_permissions PER DATABASE PER LOGIN (
    class tinyint NOT NULL, class_desc nvarchar(60), major_id int NOT NULL, minor_id int NOT NULL, grantee_principal_id int NOT NULL,
    grantor_principal_id int NOT NULL, type char(4) NOT NULL, permission_name nvarchar(128), state char(1) NOT NULL, state_desc nvarchar(60)
)
SUMMARY What procession_grant gave: CONNECT, EXECUTE, SELECT.
AS
SELECT 0, 'DATABASE', 0, 0, l.id, 1, t.column1, t.column2, 'G', 'GRANT', p.database, l.name
FROM permission p JOIN login l ON l.name = p.login,
     (VALUES ('CO  ', 'CONNECT', 3), ('EX  ', 'EXECUTE', 1), ('SL  ', 'SELECT', 2)) t
WHERE l.admin = 0 AND (p.rights & t.column3) <> 0;

-- ---- files and servers

VIEW sys.master_files (
    database_id int NOT NULL, file_id int NOT NULL, file_guid uniqueidentifier, type tinyint NOT NULL, type_desc nvarchar(60), data_space_id int NOT NULL,
    name sysname NOT NULL, physical_name nvarchar(260) NOT NULL, state tinyint, state_desc nvarchar(60), size int NOT NULL, max_size int NOT NULL, growth int NOT NULL,
    is_media_read_only bit NOT NULL, is_read_only bit NOT NULL, is_sparse bit NOT NULL, is_percent_growth bit NOT NULL, drop_lsn numeric(25,0)
)
SUMMARY The file of each database, by its name in the data folder. Sizes are not told here: ask the file system.
AS
SELECT id, 1, NULL, 0, 'ROWS', 1, name, file, CASE WHEN damage IS NULL THEN 0 ELSE 4 END, CASE WHEN damage IS NULL THEN 'ONLINE' ELSE 'SUSPECT' END, 0, -1, 0,
       0, 0, 0, 0, NULL
FROM database;

VIEW sys.database_files PER DATABASE (
    file_id int NOT NULL, file_guid uniqueidentifier, type tinyint NOT NULL, type_desc nvarchar(60), data_space_id int NOT NULL, name sysname NOT NULL,
    physical_name nvarchar(260), state tinyint, state_desc nvarchar(60), size int NOT NULL, max_size int NOT NULL, growth int NOT NULL, is_media_read_only bit NOT NULL,
    is_read_only bit NOT NULL, is_sparse bit NOT NULL, is_percent_growth bit NOT NULL, drop_lsn numeric(25,0)
)
SUMMARY The file of the database.
AS
SELECT 1, NULL, 0, 'ROWS', 1, name, file, 0, 'ONLINE', 0, -1, 0, 0, 0, 0, 0, NULL, name FROM database;

VIEW sys.data_spaces (name sysname NOT NULL, data_space_id int NOT NULL, type char(2) NOT NULL, type_desc nvarchar(60), is_default bit, is_system bit)
SUMMARY One filegroup, PRIMARY.
AS
SELECT 'PRIMARY', 1, 'FG', 'ROWS_FILEGROUP', 1, 0;

VIEW sys.filegroups (
    name sysname NOT NULL, data_space_id int NOT NULL, type char(2) NOT NULL, type_desc nvarchar(60), is_default bit, is_system bit, filegroup_guid uniqueidentifier,
    log_filegroup_id int, is_read_only bit, is_autogrow_all_files bit
)
SUMMARY One filegroup, PRIMARY.
AS
SELECT 'PRIMARY', 1, 'FG', 'ROWS_FILEGROUP', 1, 0, NULL, NULL, 0, 0;

VIEW sys.database_recovery_status (
    database_id int NOT NULL, database_guid uniqueidentifier, family_guid uniqueidentifier, last_log_backup_lsn numeric(25,0), recovery_fork_guid uniqueidentifier,
    first_recovery_fork_guid uniqueidentifier, fork_point_lsn numeric(25,0)
)
SUMMARY The databases; there are no chains of log backups.
AS
SELECT id, NULL, NULL, NULL, NULL, NULL, NULL FROM database;

VIEW sys.servers OVER server (
    server_id int NOT NULL, name sysname NOT NULL, product sysname NOT NULL, provider sysname NOT NULL, data_source nvarchar(4000), location nvarchar(4000),
    provider_string nvarchar(4000), catalog sysname, connect_timeout int, query_timeout int, is_linked bit NOT NULL, is_remote_login_enabled bit NOT NULL,
    is_rpc_out_enabled bit NOT NULL, is_data_access_enabled bit NOT NULL, is_collation_compatible bit NOT NULL, uses_remote_collation bit NOT NULL,
    collation_name sysname, lazy_schema_validation bit NOT NULL, is_system bit NOT NULL, is_publisher bit NOT NULL, is_subscriber bit, is_distributor bit,
    is_nonsql_subscriber bit, is_remote_proc_transaction_promotion_enabled bit, modify_date datetime NOT NULL
)
SUMMARY This server; there are no linked ones.
AS
SELECT 0, server.name, 'SQL Server', 'SQLNCLI', server.name, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, server.started FROM server;

VIEW sys.endpoints (
    name sysname NOT NULL, endpoint_id int NOT NULL, principal_id int, protocol tinyint NOT NULL, protocol_desc nvarchar(60), type tinyint NOT NULL,
    type_desc nvarchar(60), state tinyint, state_desc nvarchar(60), is_admin_endpoint bit NOT NULL
)
SUMMARY TDS over TCP.
AS
SELECT 'TSQL Default TCP', 4, 1, 2, 'TCP', 2, 'TSQL', 0, 'STARTED', 0;

VIEW sys.dm_os_host_info OVER server (
    host_platform nvarchar(256) NOT NULL, host_distribution nvarchar(256) NOT NULL, host_release nvarchar(256) NOT NULL,
    host_service_pack_level nvarchar(256) NOT NULL, host_sku int, os_language_version int NOT NULL, host_architecture nvarchar(256) NOT NULL
)
SUMMARY The operating system.
AS
SELECT 'Linux', server.distribution, server.release, '', NULL, 0, server.architecture FROM server;

VIEW sys.dm_os_sys_info OVER server (
    cpu_ticks bigint NOT NULL, ms_ticks bigint NOT NULL, cpu_count int NOT NULL, hyperthread_ratio int NOT NULL, physical_memory_kb bigint NOT NULL,
    virtual_memory_kb bigint NOT NULL, committed_kb bigint NOT NULL, committed_target_kb bigint NOT NULL, max_workers_count int NOT NULL, scheduler_count int NOT NULL,
    sqlserver_start_time_ms_ticks bigint NOT NULL, sqlserver_start_time datetime NOT NULL, affinity_type int NOT NULL, affinity_type_desc nvarchar(60),
    virtual_machine_type int NOT NULL, virtual_machine_type_desc nvarchar(60) NOT NULL, socket_count int, container_type int NOT NULL,
    container_type_desc nvarchar(60) NOT NULL
)
SUMMARY The machine and the start of the server.
AS
SELECT 0, server.up, server.cpus, 1, server.memory, 0, 0, 0, 0, server.cpus, 0, server.started, 2, 'AUTO', 0, 'NONE', 1, 0, 'NONE' FROM server;

VIEW sys.dm_server_services OVER server (
    servicename nvarchar(256) NOT NULL, startup_type int, startup_type_desc nvarchar(256) NOT NULL, status int, status_desc nvarchar(256) NOT NULL, process_id int,
    last_startup_time datetime, service_account nvarchar(256) NOT NULL, filename nvarchar(256) NOT NULL, is_clustered nvarchar(1) NOT NULL,
    cluster_nodename nvarchar(256), instant_file_initialization_enabled nvarchar(1) NOT NULL
)
SUMMARY The server itself.
AS
SELECT 'SQL Server (MSSQLSERVER)', 2, 'Automatic', 4, 'Running', server.pid, server.started, '', 'processiond', 'N', NULL, 'N' FROM server;

VIEW sys.syslanguages ALSO dbo.syslanguages (
    langid smallint NOT NULL, dateformat nchar(3) NOT NULL, datefirst tinyint NOT NULL, upgrade int, name sysname NOT NULL, alias sysname NOT NULL, months nvarchar(372),
    shortmonths nvarchar(132), days nvarchar(217), lcid int NOT NULL, msglangid smallint NOT NULL
)
SUMMARY us_english, in which messages are written.
AS
SELECT 0, 'mdy', 7, 0, 'us_english', 'English', 'January,February,March,April,May,June,July,August,September,October,November,December',
       'Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec', 'Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday', 1033, 1033;

-- ---- sessions

VIEW sys.dm_exec_sessions OVER sessions (
    session_id smallint NOT NULL, login_time datetime NOT NULL, host_name nvarchar(128), program_name nvarchar(128), host_process_id int, client_version int,
    client_interface_name nvarchar(32), security_id varbinary(85) NOT NULL, login_name nvarchar(128) NOT NULL, nt_domain nvarchar(128), nt_user_name nvarchar(128),
    status nvarchar(30) NOT NULL, context_info varbinary(128), cpu_time int NOT NULL, memory_usage int NOT NULL, total_scheduled_time int NOT NULL,
    total_elapsed_time int NOT NULL, endpoint_id int NOT NULL, last_request_start_time datetime NOT NULL, last_request_end_time datetime, reads bigint NOT NULL,
    writes bigint NOT NULL, logical_reads bigint NOT NULL, is_user_process bit NOT NULL, text_size int NOT NULL, language nvarchar(128), date_format nvarchar(3),
    date_first smallint NOT NULL, quoted_identifier bit NOT NULL, arithabort bit NOT NULL, ansi_null_dflt_on bit NOT NULL, ansi_defaults bit NOT NULL,
    ansi_warnings bit NOT NULL, ansi_padding bit NOT NULL, ansi_nulls bit NOT NULL, concat_null_yields_null bit NOT NULL,
    transaction_isolation_level smallint NOT NULL, lock_timeout int NOT NULL, deadlock_priority int NOT NULL, row_count bigint NOT NULL, prev_error int NOT NULL,
    original_security_id varbinary(85) NOT NULL, original_login_name nvarchar(128) NOT NULL, last_successful_logon datetime, last_unsuccessful_logon datetime,
    unsuccessful_logons bigint, group_id int NOT NULL, database_id smallint NOT NULL, authenticating_database_id int, open_transaction_count int NOT NULL
)
SUMMARY The sessions: all of them to administrators and who has the right monitor, to others their own. Options and transactions are those of the asking session; NULL or 0 elsewhere.
AS
SELECT s.spid, s.login_time, s.host, s.program, s.process, 7, 'TDS', x'00', s.login, NULL, NULL, s.status, NULL, 0, 0, 0, 0, 4, s.last_request, s.last_request, 0,
       0, 0, 1, s.text_size, 'us_english', 'mdy', s.date_first, s.quoted_identifier, s.arithabort, s.ansi_null_dflt_on, 0, s.ansi_warnings, s.ansi_padding, s.ansi_nulls,
       s.concat_null_yields_null, s.isolation, s.lock_timeout, 0, 0, 0, x'00', s.login, NULL, NULL, NULL, 2,
       (SELECT d.database_id FROM sys_databases d WHERE d.name = s.database COLLATE NOCASE), 1, s.transactions
FROM sessions s;

VIEW sys.dm_exec_connections OVER sessions (
    session_id int, most_recent_session_id int, connect_time datetime NOT NULL, net_transport nvarchar(40) NOT NULL, protocol_type nvarchar(40), protocol_version int,
    endpoint_id int, encrypt_option nvarchar(40) NOT NULL, auth_scheme nvarchar(40) NOT NULL, node_affinity smallint NOT NULL, num_reads int, num_writes int,
    last_read datetime, last_write datetime, net_packet_size int, client_net_address varchar(48), client_tcp_port int, local_net_address varchar(48),
    local_tcp_port int, connection_id uniqueidentifier NOT NULL, parent_connection_id uniqueidentifier, most_recent_sql_handle varbinary(64)
)
SUMMARY The connections of the sessions that sys.dm_exec_sessions shows.
AS
SELECT s.spid, s.spid, s.login_time, 'TCP', 'TSQL', 1946157060, 4, CASE WHEN s.encrypted <> 0 THEN 'TRUE' ELSE 'FALSE' END, s.scheme, 0, NULL, NULL, s.last_request,
       s.last_request, NULL, s.address, NULL, NULL, NULL, NULL, NULL, NULL
FROM sessions s;

VIEW sys.dm_exec_requests OVER sessions (
    session_id smallint NOT NULL, request_id int NOT NULL, start_time datetime NOT NULL, status nvarchar(30) NOT NULL, command nvarchar(32) NOT NULL,
    sql_handle varbinary(64), statement_start_offset int, statement_end_offset int, plan_handle varbinary(64), database_id smallint NOT NULL, user_id int NOT NULL,
    connection_id uniqueidentifier, blocking_session_id smallint, wait_type nvarchar(60), wait_time int NOT NULL, last_wait_type nvarchar(60) NOT NULL,
    wait_resource nvarchar(256) NOT NULL, open_transaction_count int NOT NULL, open_resultset_count int NOT NULL, percent_complete real NOT NULL,
    estimated_completion_time bigint NOT NULL, cpu_time int NOT NULL, total_elapsed_time int NOT NULL, reads bigint NOT NULL, writes bigint NOT NULL,
    logical_reads bigint NOT NULL, transaction_isolation_level smallint NOT NULL, row_count bigint NOT NULL, granted_query_memory int NOT NULL
)
SUMMARY What the sessions that sys.dm_exec_sessions shows are running.
AS
SELECT s.spid, 0, s.last_request, s.status, s.command, NULL, NULL, NULL, NULL,
       (SELECT d.database_id FROM sys_databases d WHERE d.name = s.database COLLATE NOCASE), 1, NULL, s.blocker, NULL, 0, '', '', s.transactions, 0, 0, 0, 0, 0, 0, 0,
       0, s.isolation, 0, 0
FROM sessions s WHERE s.status <> 'sleeping';

VIEW sys.sysprocesses ALSO dbo.sysprocesses OVER sessions (
    spid smallint NOT NULL, kpid smallint NOT NULL, blocked smallint NOT NULL, waittype binary(2) NOT NULL, waittime bigint NOT NULL, lastwaittype nchar(32) NOT NULL,
    waitresource nchar(256) NOT NULL, dbid smallint NOT NULL, uid smallint, cpu int NOT NULL, physical_io bigint NOT NULL, memusage int NOT NULL,
    login_time datetime NOT NULL, last_batch datetime NOT NULL, ecid smallint NOT NULL, open_tran smallint NOT NULL, status nchar(30) NOT NULL, sid binary(86) NOT NULL,
    hostname nchar(128) NOT NULL, program_name nchar(128) NOT NULL, hostprocess nchar(10) NOT NULL, cmd nchar(16) NOT NULL, nt_domain nchar(128) NOT NULL,
    nt_username nchar(128) NOT NULL, net_address nchar(12) NOT NULL, net_library nchar(12) NOT NULL, loginame nchar(128) NOT NULL, context_info binary(128) NOT NULL,
    sql_handle binary(20) NOT NULL, request_id int NOT NULL
)
SUMMARY The sessions, in the old form.
AS
SELECT s.spid, 0, coalesce(s.blocker, 0), x'0000', 0, '', '', (SELECT d.database_id FROM sys_databases d WHERE d.name = s.database COLLATE NOCASE), 1, 0, 0, 0,
       s.login_time, s.last_request, 0, s.transactions, s.status, x'00', coalesce(s.host, ''), coalesce(s.program, ''), coalesce(CAST(s.process AS TEXT), ''), s.command,
       '', '', '', 'TCP/IP', s.login, x'00', x'00', 0
FROM sessions s;

-- ---- the old form

VIEW sys.sysusers ALSO dbo.sysusers PER DATABASE PER LOGIN (
    uid smallint, status smallint, name sysname NOT NULL, sid varbinary(85), roles varbinary(2048), createdate datetime NOT NULL, updatedate datetime NOT NULL,
    altuid smallint, password varbinary(256), gid smallint, environ varchar(255), hasdbaccess int, islogin int, isntname int, isntgroup int, isntuser int,
    issqluser int, isaliased int, issqlrole int, isapprole int
)
SUMMARY The users and roles of the database, in the old form.
AS
SELECT principal_id, 0, name, sid, NULL, create_date, modify_date, owning_principal_id, NULL, CASE type WHEN 'R' THEN principal_id ELSE 0 END, NULL,
       type = 'S' AND principal_id NOT IN (2, 3, 4), type = 'S', 0, 0, 0, type = 'S', 0, type = 'R', 0, database_name, login_name
FROM sys_database_principals;

VIEW sys.syslogins ALSO dbo.syslogins PER LOGIN (
    sid varbinary(85), status smallint, createdate datetime, updatedate datetime, accdate datetime, totcpu int, totio int, spacelimit int, timelimit int, resultlimit int,
    name sysname NOT NULL, dbname sysname, password sysname, language sysname, denylogin int, hasaccess int, isntname int, isntgroup int, isntuser int, sysadmin int,
    securityadmin int, serveradmin int, setupadmin int, processadmin int, diskadmin int, dbcreator int, bulkadmin int, loginname sysname NOT NULL
)
SUMMARY The logins, in the old form.
AS
SELECT sid, 9, created, changed, created, 0, 0, 0, 0, 0, name, coalesce(default_database, 'master'), NULL, 'us_english', 0, disabled = 0, 0, 0, 0, admin, 0, 0, 0, 0, 0,
       0, 0, name, CASE WHEN id <> 1 THEN name END
FROM login;

VIEW sys.syscolumns ALSO dbo.syscolumns PER DATABASE (
    name sysname, id int NOT NULL, xtype tinyint NOT NULL, typestat tinyint NOT NULL, xusertype smallint, length smallint NOT NULL, xprec tinyint NOT NULL,
    xscale tinyint NOT NULL, colid smallint, xoffset smallint NOT NULL, bitpos tinyint NOT NULL, reserved tinyint NOT NULL, colstat smallint, cdefault int NOT NULL,
    domain int NOT NULL, number smallint, colorder smallint, offset smallint, collationid int, status tinyint, type tinyint NOT NULL, usertype smallint,
    printfmt varchar(255), prec smallint, scale int, iscomputed int, isoutparam int, isnullable int, collation sysname, tdscollation binary(5)
)
SUMMARY The columns of views and the parameters of procedures, in the old form; type is the number that the storage had before the types of xtype came.
AS
SELECT name, object_id, system_type_id, 0, user_type_id, max_length, precision, scale, column_id, 0, 0, 0, 0, 0, 0, 0, column_id, 0, NULL, 8,
       CASE system_type_id WHEN 104 THEN 50 WHEN 127 THEN 63 WHEN 108 THEN 63 WHEN 106 THEN 55 WHEN 98 THEN 39 WHEN 167 THEN 39 WHEN 231 THEN 39 WHEN 175 THEN 47 WHEN 239 THEN 47
            WHEN 36 THEN 37 WHEN 165 THEN 37 WHEN 173 THEN 45 WHEN 189 THEN 45 WHEN 99 THEN 35 ELSE system_type_id END,
       user_type_id, NULL, precision, scale, 0, 0, is_nullable, collation_name, NULL, database_name
FROM sys_columns
UNION ALL
SELECT name, object_id, system_type_id, 0, user_type_id, max_length, precision, scale, parameter_id, 0, 0, 0, 0, 0, 0, 1, parameter_id, 0, NULL, 8,
       CASE system_type_id WHEN 104 THEN 50 WHEN 127 THEN 63 WHEN 108 THEN 63 WHEN 106 THEN 55 WHEN 98 THEN 39 WHEN 167 THEN 39 WHEN 231 THEN 39 WHEN 175 THEN 47 WHEN 239 THEN 47
            WHEN 36 THEN 37 WHEN 165 THEN 37 WHEN 173 THEN 45 WHEN 189 THEN 45 WHEN 99 THEN 35 ELSE system_type_id END,
       user_type_id, NULL, precision, scale, 0, is_output, is_nullable, NULL, NULL, database_name
FROM sys_parameters
ORDER BY 2, 9;                  -- as they are kept there: Qt's driver for TDS reads the columns of a table without asking for an order

VIEW sys.syscomments ALSO dbo.syscomments PER DATABASE (
    id int NOT NULL, number smallint, colid smallint NOT NULL, status smallint NOT NULL, ctext varbinary(8000), texttype smallint, language smallint, encrypted bit NOT NULL,
    compressed bit NOT NULL, text nvarchar(4000)
)
SUMMARY The declarations of procedures and views, in the old form; the first 4000 characters.
AS
SELECT object_id, 1, 1, 0, NULL, 2, 0, 0, 0, substr(definition, 1, 4000), database_name FROM sys_sql_modules;

VIEW sys.systypes ALSO dbo.systypes (
    name sysname NOT NULL, xtype tinyint NOT NULL, status tinyint, xusertype smallint, length smallint NOT NULL, xprec tinyint NOT NULL, xscale tinyint NOT NULL,
    tdefault int NOT NULL, domain int NOT NULL, uid smallint, reserved smallint, collationid int, usertype smallint, variable bit, allownulls bit, type tinyint NOT NULL,
    printfmt varchar(255), prec smallint, scale tinyint, collation sysname
)
SUMMARY The data types, in the old form.
AS
SELECT t.name, t.system_type_id, 0, t.user_type_id, t.max_length, t.precision, t.scale, 0, 0, 4, 0, NULL, m.usertype, t.name IN ('varchar', 'nvarchar', 'varbinary'),
       t.is_nullable, CASE t.system_type_id WHEN 104 THEN 50 WHEN 127 THEN 63 WHEN 108 THEN 63 WHEN 106 THEN 55 WHEN 98 THEN 39 WHEN 167 THEN 39 WHEN 231 THEN 39 WHEN 175 THEN 47
            WHEN 239 THEN 47 WHEN 36 THEN 37 WHEN 165 THEN 37 WHEN 173 THEN 45 WHEN 189 THEN 45 WHEN 99 THEN 35 ELSE t.system_type_id END, NULL, t.precision, t.scale, t.collation_name
FROM sys_types t JOIN meta_type m ON m.name = t.name;

VIEW sys.sysfiles ALSO dbo.sysfiles PER DATABASE (
    fileid smallint, groupid smallint, size int NOT NULL, maxsize int NOT NULL, growth int NOT NULL, status int, perf int, name sysname NOT NULL, filename nvarchar(260)
)
SUMMARY The file of the database, in the old form.
AS
SELECT file_id, data_space_id, size, max_size, growth, 2, 0, name, physical_name, database_name FROM sys_database_files;

VIEW sys.sysaltfiles ALSO dbo.sysaltfiles (
    fileid smallint, groupid smallint, size int NOT NULL, maxsize int NOT NULL, growth int NOT NULL, status int, perf int, dbid smallint NOT NULL, name sysname NOT NULL,
    filename nvarchar(260)
)
SUMMARY The files of all databases, in the old form.
AS
SELECT file_id, data_space_id, size, max_size, growth, 2, 0, database_id, name, physical_name FROM sys_master_files;

VIEW sys.sysfilegroups ALSO dbo.sysfilegroups (groupid smallint, allocpolicy smallint, status int, groupname sysname NOT NULL)
SUMMARY One filegroup, PRIMARY.
AS
SELECT 1, 0, 16, 'PRIMARY';

VIEW sys.sysconfigures ALSO dbo.sysconfigures (value int, config int NOT NULL, comment nvarchar(255) NOT NULL, status smallint)
SUMMARY sys.configurations, in the old form.
AS
SELECT value, configuration_id, description, is_dynamic FROM sys_configurations;

VIEW sys.syscurconfigs ALSO dbo.syscurconfigs (value int, config smallint NOT NULL, comment nvarchar(255) NOT NULL, status smallint)
SUMMARY sys.configurations, in the old form.
AS
SELECT value_in_use, configuration_id, description, is_dynamic FROM sys_configurations;

VIEW dbo.spt_values (name nvarchar(35), number int NOT NULL, type nchar(3) NOT NULL, low int, high int, status int)
SUMMARY Of the old table of codes, what tools read: the size of a page and the names of the kinds of objects.
AS
SELECT column1, column2, column3, column4, column5, 0 FROM (VALUES
    ('WINDOWS/NT', 1, 'E', 8192, NULL),
    ('P : stored procedure', 1, 'O9T', NULL, NULL),
    ('V : view', 2, 'O9T', NULL, NULL),
    ('rpc', 1, 'A', NULL, NULL)) AS codes;

-- ---- functions that stand in FROM: their arguments are read and pass

VIEW sys.fn_helpcollations ALSO dbo.fn_helpcollations FUNCTION (name sysname NOT NULL, description nvarchar(1000))
SUMMARY The collation of the server.
AS
SELECT 'SQL_Latin1_General_CP1_CI_AS', 'Latin1-General, case-insensitive, accent-sensitive';

-- ---- the numbers of the server: for administrators and who has the right monitor (src/metrics)

VIEW sys.procession_numbers OVER numbers (
    name nvarchar(128) NOT NULL, database_name nvarchar(128), procedure_name nvarchar(128), label nvarchar(128), value float NOT NULL
)
SUMMARY All numbers of the server, as procession_stats gives them.
AS
SELECT n.name, n.database, n.procedure, n.label, n.value FROM numbers n;

VIEW sys.procession_procedures OVER procedures (
    database_name nvarchar(128) NOT NULL, procedure_name nvarchar(128) NOT NULL, calls bigint NOT NULL, errors bigint NOT NULL, queue_ms float NOT NULL,
    queue_p50_ms float NOT NULL, queue_p99_ms float NOT NULL, run_ms float NOT NULL, run_p50_ms float NOT NULL, run_p99_ms float NOT NULL
)
SUMMARY The procedures that were called since the start, with the milliseconds that their calls waited and ran: all together, the median, and what one in a hundred exceeds.
AS
SELECT p.database, p.procedure, p.calls, p.errors, p.queue_total, p.queue_p50, p.queue_p99, p.run_total, p.run_p50, p.run_p99 FROM procedures p;

VIEW sys.procession_sessions OVER sessions (
    session_id smallint NOT NULL, login_name nvarchar(128) NOT NULL, host_name nvarchar(128), program_name nvarchar(128), address varchar(48),
    database_name nvarchar(128), status nvarchar(30) NOT NULL, command nvarchar(32) NOT NULL, blocking_session_id smallint NOT NULL, requests bigint NOT NULL,
    login_time datetime NOT NULL, last_request_time datetime NOT NULL
)
SUMMARY The sessions with the requests that each has made: all of them to administrators and who has the right monitor, to others their own.
AS
SELECT s.spid, s.login, s.host, s.program, s.address, s.database, s.status, s.command, s.blocker, s.requests, s.login_time, s.last_request FROM sessions s;
