--: What graphical tools and frameworks send at connect and for their trees, after their public sources (SMO's and SQL Tools Service's
--: for SSMS and Azure Data Studio, DBeaver, mssql-jdbc, SQLAlchemy, EF Core, Prisma, Adminer). Long texts are shortened to what they ask for.
--: A head is "--- tool | what | database | rows | columns": rows some, none or any; columns of the first result set that has these,
--: "…" at the end: and others. "--? 1, 'x'" gives the values for the question marks. "--! reason": is refused, and why.

--: ---- SQL Server Management Studio: connect

--- ssms | server information | master | some | DatabaseEngineType, DatabaseEngineEdition, ProductVersion, MicrosoftVersion
DECLARE @edition sysname;
SET @edition = cast(SERVERPROPERTY(N'EDITION') as sysname);
SELECT case when @edition = N'SQL Azure' then 2 else 1 end as 'DatabaseEngineType',
SERVERPROPERTY('EngineEdition') AS DatabaseEngineEdition,
SERVERPROPERTY('ProductVersion') AS ProductVersion,
@@MICROSOFTVERSION AS MicrosoftVersion;
select host_platform from sys.dm_os_host_info
if @edition = N'SQL Azure'
  select 'TCP' as ConnectionProtocol
else
  exec ('select CONVERT(nvarchar(40),CONNECTIONPROPERTY(''net_transport'')) as ConnectionProtocol')
--- ssms | platform | master | some | host_platform
select host_platform from sys.dm_os_host_info
--- ssms | net transport | master | some | ConnectionProtocol
exec ('select CONVERT(nvarchar(40),CONNECTIONPROPERTY(''net_transport'')) as ConnectionProtocol')
--- ssms | collation of a database | StateService | some | , 
SELECT COLLATIONPROPERTY((select collation_name from sys.databases where name = ISNULL(N'StateService', db_name())), 'LCID'), COLLATIONPROPERTY((select collation_name from sys.databases where name = ISNULL(N'StateService', db_name())), 'ComparisonStyle')
--- ssms | fixed server roles | master | some | 
select is_srvrolemember('sysadmin') * 1 + is_srvrolemember('serveradmin') * 2 + is_srvrolemember('setupadmin') * 4 + is_srvrolemember('securityadmin') * 8 + is_srvrolemember('processadmin') * 16 + is_srvrolemember('dbcreator') * 32 + is_srvrolemember('diskadmin') * 64
--- ssms | true login | master | some | 
select suser_sname()
--- ssms | true name | master | some | 
select SERVERPROPERTY(N'servername')
--- ssms | session number | master | some | 
select @@SPID
--- ssms | transaction depth | master | some | 
select @@TRANCOUNT
--- ssms | options of the session | master | none | 
SET ROWCOUNT 0 SET TEXTSIZE 2147483647 SET NOCOUNT OFF SET CONCAT_NULL_YIELDS_NULL ON SET ARITHABORT ON SET LOCK_TIMEOUT -1 SET QUERY_GOVERNOR_COST_LIMIT 0 SET DEADLOCK_PRIORITY NORMAL SET TRANSACTION ISOLATION LEVEL READ COMMITTED SET ANSI_NULLS ON SET ANSI_NULL_DFLT_ON ON SET ANSI_PADDING ON SET ANSI_WARNINGS ON SET CURSOR_CLOSE_ON_COMMIT OFF SET IMPLICIT_TRANSACTIONS OFF SET QUOTED_IDENTIFIER ON
--- ssms | current session of a query window | master | some | 
select @@spid; select SERVERPROPERTY('ProductLevel');
--- ssms | showplan off | master | none | 
SET NOEXEC, PARSEONLY, FMTONLY OFF
--- ssms | state of a batch window | master | some | 
SET SHOWPLAN_TEXT OFF; SELECT 1
--- ssms | access to a database | master | some | 
SELECT CASE WHEN has_dbaccess(N'StateService') = 1 THEN 'true' ELSE 'false' END
--- ssms | server properties | master | some | Name, InstanceName, Status, PathSeparator, …
SELECT CAST(serverproperty(N'Servername') AS sysname) AS [Name], CAST(ISNULL(serverproperty(N'instancename'),N'') AS sysname) AS [InstanceName], CAST(0x0001 AS int) AS [Status], SERVERPROPERTY('PathSeparator') AS [PathSeparator], 0 AS [IsContainedAuthentication], CAST(null AS int) AS [ServerType]
--- ssms | server for the tree | master | some | Server_Urn, Server_Name, VersionString, …
SELECT 'Server[@Name=' + quotename(CAST(serverproperty(N'Servername') AS sysname),'''') + ']' AS [Server_Urn], CAST(serverproperty(N'Servername') AS sysname) AS [Server_Name], CAST(SERVERPROPERTY(N'ProductVersion') AS nvarchar(512)) AS [VersionString], CAST(SERVERPROPERTY(N'Edition') AS sysname) AS [Edition], CAST(SERVERPROPERTY('EngineEdition') AS int) AS [EngineEdition], CAST(SERVERPROPERTY('IsClustered') AS bit) AS [IsClustered], CAST(SERVERPROPERTY('IsFullTextInstalled') AS bit) AS [IsFullTextInstalled], CAST(SERVERPROPERTY('IsXTPSupported') AS bit) AS [IsXTPSupported], CAST(SERVERPROPERTY('IsHadrEnabled') AS bit) AS [IsHadrEnabled], convert(sysname, serverproperty(N'collation')) AS [Collation], @@MAX_PRECISION AS [MaxPrecision], CAST(SERVERPROPERTY('ResourceLastUpdateDateTime') AS datetime) AS [ResourceLastUpdateDateTime], CAST(SERVERPROPERTY('BuildClrVersion') AS nvarchar(512)) AS [BuildClrVersionString]
--- ssms | default paths | master | some | DefaultFile, DefaultLog
SELECT ISNULL(SERVERPROPERTY('instancedefaultdatapath'),'') AS [DefaultFile], SERVERPROPERTY('instancedefaultlogpath') AS [DefaultLog]
--- ssms | options of the server | master | some | name, value, minimum, maximum, value_in_use
SELECT name, value, minimum, maximum, value_in_use FROM sys.configurations WHERE name = N'user connections'
--- ssms | options of the user | master | some | ANSI_PADDING, ANSI_NULLS
select CAST(SESSIONPROPERTY('ANSI_PADDING') AS bit) AS ANSI_PADDING, CAST(SESSIONPROPERTY('ANSI_NULLS') AS bit) AS ANSI_NULLS
--- ssms | extended events | master | none | name
SELECT name FROM sys.server_event_sessions
--- ssms | availability | master | some | 
select case when SERVERPROPERTY('IsHadrEnabled') = 1 then 1 else 0 end
--- ssms | may view server state | master | some | 
SELECT has_perms_by_name(null, null, 'view server state')
--- ssms | registry | master | any | …
--! xp_instance_regread reads the registry of Windows
declare @SmoAuditLevel int exec master.dbo.xp_instance_regread N'HKEY_LOCAL_MACHINE', N'Software\Microsoft\MSSQLServer\MSSQLServer', N'AuditLevel', @SmoAuditLevel OUTPUT SELECT @SmoAuditLevel AS [AuditLevel]
--- ssms | server information through a temporary table | master | some | ProcessorCount
--! temporary tables: there are none
create table #SVer(ID int, Name sysname, Internal_Value int, Value nvarchar(512)) insert #SVer exec master.dbo.xp_msver SELECT Internal_Value AS ProcessorCount FROM #SVer WHERE Name = N'ProcessorCount' drop table #SVer

--: ---- SSMS and ADS: the tree of databases

--- smo | databases | master | some | Name, ID, IsAccessible, Status, …
SELECT dtb.name AS [Name], dtb.database_id AS [ID], CAST(has_dbaccess(dtb.name) AS bit) AS [IsAccessible], case when dtb.collation_name is null then 0x200 else 0 end | case dtb.state when 1 then 0x2 when 2 then 0x8 when 3 then 0x4 when 4 then 0x10 when 5 then 0x40 when 6 then 0x20 else 1 end AS [Status], dtb.recovery_model AS [RecoveryModel], CAST(case when dtb.name in ('master','model','msdb','tempdb') then 1 else dtb.is_distributor end AS bit) AS [IsSystemObject] FROM master.sys.databases AS dtb ORDER BY [Name] ASC
--- smo | databases with their addresses | master | some | Name, Urn, IsDatabaseSnapshot
SELECT dtb.name AS [Name], 'Server[@Name=' + quotename(CAST(serverproperty(N'Servername') AS sysname),'''') + ']' + '/Database[@Name=' + quotename(dtb.name,'''') + ']' AS [Urn], CAST(isnull(dtb.source_database_id, 0) AS bit) AS [IsDatabaseSnapshot] FROM master.sys.databases AS dtb WHERE (CAST(case when dtb.name in ('master','model','msdb','tempdb') then 1 else dtb.is_distributor end AS bit)=0 and CAST(isnull(dtb.source_database_id, 0) AS bit)=0) ORDER BY [Name] ASC
--- smo | options of a database | StateService | some | Name, AnsiNullDefault, …
SELECT dtb.name AS [Name], dtb.is_ansi_null_default_on AS [AnsiNullDefault], dtb.is_ansi_nulls_on AS [AnsiNullsEnabled], dtb.is_ansi_padding_on AS [AnsiPaddingEnabled], dtb.is_ansi_warnings_on AS [AnsiWarningsEnabled], dtb.is_arithabort_on AS [ArithmeticAbortEnabled], dtb.is_auto_shrink_on AS [AutoShrink], dtb.is_cursor_close_on_commit_on AS [CloseCursorsOnCommitEnabled], dtb.is_concat_null_yields_null_on AS [ConcatenateNullYieldsNull], dtb.is_numeric_roundabort_on AS [NumericRoundAbortEnabled], dtb.is_quoted_identifier_on AS [QuotedIdentifiersEnabled], dtb.is_read_only AS [ReadOnly], dtb.is_recursive_triggers_on AS [RecursiveTriggersEnabled], dtb.user_access AS [UserAccess], dtb.is_db_chaining_on AS [DatabaseOwnershipChaining], dtb.is_auto_update_stats_async_on AS [AutoUpdateStatisticsAsync], dtb.is_date_correlation_on AS [DateCorrelationOptimization], dtb.is_trustworthy_on AS [Trustworthy], dtb.page_verify_option AS [PageVerify], dtb.is_broker_enabled AS [BrokerEnabled], dtb.is_parameterization_forced AS [IsParameterizationForced], dtb.is_local_cursor_default AS [LocalCursorsDefault] FROM master.sys.databases AS dtb WHERE (dtb.name=N'StateService')
--- smo | properties of a database | StateService | some | CreateDate, Owner, PrimaryFilePath, …
SELECT dtb.create_date AS [CreateDate], ISNULL(suser_sname(dtb.owner_sid),'') AS [Owner], ISNULL(df.physical_name, N'') AS [PrimaryFilePath], dtb.compatibility_level AS [CompatibilityLevel], dtb.collation_name AS [Collation], ISNULL(DB_NAME(dtb.source_database_id), N'') AS [DatabaseSnapshotBaseName], dtb.is_fulltext_enabled AS [IsFullTextEnabled], dtb.service_broker_guid AS [ServiceBrokerGuid], dtb.snapshot_isolation_state AS [SnapshotIsolationState], (dtb.is_published*1+dtb.is_subscribed*2+dtb.is_merge_published*4) AS [ReplicationOptions], ISNULL(dtb.log_reuse_wait,0) AS [LogReuseWaitStatus] FROM master.sys.databases AS dtb LEFT OUTER JOIN sys.master_files AS df ON df.database_id = dtb.database_id and 1=df.data_space_id and 1 = df.file_id WHERE (dtb.name=N'StateService')
--- smo | mirroring and recovery of databases | master | some | Name, IsMirroringEnabled, MirroringStatus, RecoveryForkGuid, HasFullBackup
SELECT dtb.name AS [Name], CAST(case when dmi.mirroring_partner_name is null then 0 else 1 end AS bit) AS [IsMirroringEnabled], ISNULL(dmi.mirroring_state + 1, 0) AS [MirroringStatus], drs.recovery_fork_guid AS [RecoveryForkGuid], CAST((case when drs.last_log_backup_lsn is not null then 1 else 0 end) AS bit) AS [HasFullBackup] FROM master.sys.databases AS dtb LEFT OUTER JOIN sys.database_mirroring AS dmi ON dmi.database_id = dtb.database_id LEFT OUTER JOIN sys.database_recovery_status AS drs ON drs.database_id = dtb.database_id ORDER BY [Name]
--- smo | change tracking of databases | master | some | Name, ChangeTrackingEnabled
SELECT dtb.name AS [Name], CAST(case when ctb.database_id is null then 0 else 1 end AS bit) AS [ChangeTrackingEnabled] FROM master.sys.databases AS dtb LEFT OUTER JOIN sys.change_tracking_databases AS ctb ON ctb.database_id = dtb.database_id
--- smo | connections of databases | master | some | Name, ActiveConnections
SELECT dtb.name AS [Name], (select count(*) from master.dbo.sysprocesses p where dtb.database_id=p.dbid) AS [ActiveConnections] FROM master.sys.databases AS dtb ORDER BY [Name]
--- smo | collation and version of a database | StateService | some | Collation, Version, CompatibilityLevel, CaseSensitive
SELECT dtb.collation_name AS [Collation], CAST(DATABASEPROPERTYEX(dtb.name, 'Version') AS int) AS [Version], dtb.compatibility_level AS [CompatibilityLevel], CAST(CHARINDEX(N'_CS_', dtb.collation_name) AS bit) AS [CaseSensitive] FROM master.sys.databases AS dtb where name = db_name()
--- smo | default schema, owner | StateService | some | DefaultSchema, DboLogin
SELECT (select schema_name()) AS [DefaultSchema], CAST((select is_member(N'db_owner')) AS bit) AS [DboLogin]
--- smo | size of a database | StateService | some | DbSize
SELECT (SELECT SUM(CAST(df.size as float)) FROM sys.database_files AS df WHERE df.type in ( 0, 2, 4 )) AS [DbSize]
--- smo | space of a database | StateService | any | SpaceUsed
SELECT SUM(a.total_pages) AS [SpaceUsed] FROM sys.partitions p join sys.allocation_units a on p.partition_id = a.container_id left join sys.internal_tables it on p.object_id = it.object_id
--- smo | default filegroup | StateService | some | DefaultFileGroup
SELECT (select top 1 ds.name from sys.data_spaces as ds where ds.is_default = 1 and ds.type = 'FG' ) AS [DefaultFileGroup]
--- smo | scoped configuration | StateService | some | MaxDop
SELECT (select value from sys.database_scoped_configurations as dsc where dsc.name = 'MAXDOP') AS [MaxDop]
--- smo | databases of files in memory | master | none | HasMemoryOptimizedObjects
SELECT db.name as HasMemoryOptimizedObjects from master.sys.master_files mf join master.sys.databases db on mf.database_id = db.database_id where mf.[type] = 2
--- smo | one database exists | master | some | 
SELECT CASE WHEN db_id(N'StateService') IS NULL THEN 0 ELSE 1 END
--- smo | owner of databases | master | some | name, owner
SELECT name, SUSER_SNAME(owner_sid) AS owner FROM sys.databases
--- smo | databases in old form | master | some | collation_name
SELECT CAST(DATABASEPROPERTYEX(dtb.name, 'Collation') AS sysname) AS [collation_name] FROM master.dbo.sysdatabases AS dtb WHERE(dtb.name=N'StateService')
--- smo | who uses a database | master | some | 
select count(*) from master.dbo.sysprocesses where dbid=db_id(N'StateService')
--- smo | locks on a database | master | none | request_session_id
SELECT DISTINCT dtl.request_session_id FROM sys.dm_tran_locks dtl left join sys.dm_exec_sessions des on dtl.request_session_id = des.session_id WHERE dtl.resource_type = 'DATABASE' AND dtl.resource_database_id = db_id(N'StateService') and dtl.request_session_id != @@spid
--- smo | processes | master | some | Name, Spid, Login, Host, Status, Command, Database, BlockingSpid, IsSystem, Program
SELECT CAST(p.session_id AS sysname) AS [Name], p.session_id AS [Spid], p.login_name AS [Login], p.host_name AS [Host], ISNULL(r.status, N'') AS [Status], ISNULL(r.command, N'') AS [Command], ISNULL(db_name(r.database_id), ISNULL(db_name(pr.dbid), N'')) AS [Database], ISNULL(r.blocking_session_id, 0) AS [BlockingSpid], CAST(~p.is_user_process AS bit) AS [IsSystem], p.program_name AS [Program] FROM sys.dm_exec_sessions p LEFT OUTER JOIN sys.dm_exec_requests r ON r.session_id = p.session_id INNER JOIN sys.sysprocesses pr ON pr.spid = p.session_id ORDER BY [Spid] ASC

--: ---- procedures with parameters

--- smo | procedures | StateService | some | Name, Schema, IsSystemObject, Urn
exec sp_executesql N'SELECT sp.name AS [Name], SCHEMA_NAME(sp.schema_id) AS [Schema], CAST(case when sp.is_ms_shipped = 1 then 1 when exists (select 1 from sys.extended_properties where major_id = sp.object_id and minor_id = 0 and class = 1 and name = N''microsoft_database_tools_support'') then 1 else 0 end AS bit) AS [IsSystemObject], ''Server[@Name='' + quotename(CAST(serverproperty(N''Servername'') AS sysname),'''''''') + '']'' + ''/Database[@Name='' + quotename(db_name(),'''''''') + '']'' + ''/StoredProcedure[@Name='' + quotename(sp.name,'''''''') + '' and @Schema='' + quotename(SCHEMA_NAME(sp.schema_id),'''''''') + '']'' AS [Urn] FROM sys.all_objects AS sp WHERE (sp.type = @_msparam_0 OR sp.type = @_msparam_1 OR sp.type=@_msparam_2) ORDER BY [Schema] ASC,[Name] ASC',N'@_msparam_0 nvarchar(4000),@_msparam_1 nvarchar(4000),@_msparam_2 nvarchar(4000)',@_msparam_0=N'P',@_msparam_1=N'RF',@_msparam_2=N'PC'
--- smo | own procedures | StateService | some | Name, Schema, CreateDate, ID
SELECT sp.name AS [Name], SCHEMA_NAME(sp.schema_id) AS [Schema], sp.create_date AS [CreateDate], sp.object_id AS [ID] FROM sys.all_objects AS sp WHERE (sp.type = N'P' OR sp.type = N'RF' OR sp.type='PC')and(CAST(case when sp.is_ms_shipped = 1 then 1 else 0 end AS bit)=0) ORDER BY [Schema] ASC,[Name] ASC
--- smo | parameters of a procedure | StateService | some | Name, ID, DataType, SystemType, Length, NumericPrecision, NumericScale, IsOutputParameter, DefaultValue
SELECT param.name AS [Name], param.parameter_id AS [ID], usrt.name AS [DataType], ISNULL(baset.name, N'') AS [SystemType], CAST(CASE WHEN baset.name IN (N'nchar', N'nvarchar') AND param.max_length <> -1 THEN param.max_length/2 ELSE param.max_length END AS int) AS [Length], CAST(param.precision AS int) AS [NumericPrecision], CAST(param.scale AS int) AS [NumericScale], param.is_output AS [IsOutputParameter], NULL AS [DefaultValue] FROM sys.all_objects AS sp INNER JOIN sys.all_parameters AS param ON param.object_id=sp.object_id LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = param.user_type_id LEFT OUTER JOIN sys.types AS baset ON (baset.user_type_id = param.system_type_id and baset.user_type_id = baset.system_type_id) or ((baset.system_type_id = param.system_type_id) and (baset.user_type_id = param.user_type_id) and (baset.is_user_defined = 0) and (baset.is_assembly_type = 1)) WHERE (sp.type = N'P' OR sp.type = N'RF' OR sp.type='PC')and(sp.name=N'proc_AddItem' and SCHEMA_NAME(sp.schema_id)=N'dbo') ORDER BY [ID] ASC
--- smo | xml types of parameters | WordAutomation | some | Name, XmlSchemaNamespace, …
SELECT param.name AS [Name], ISNULL(xscparam.name, N'') AS [XmlSchemaNamespace], ISNULL(s2param.name, N'') AS [XmlSchemaNamespaceSchema], ISNULL( (case param.is_xml_document when 1 then 2 else 1 end), 0) AS [XmlDocumentConstraint], s1param.name AS [DataTypeSchema], CASE WHEN usrt.is_table_type = 1 THEN N'structured' ELSE N'' END AS [UserType] FROM sys.all_objects AS sp INNER JOIN sys.all_parameters AS param ON param.object_id=sp.object_id LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = param.user_type_id LEFT OUTER JOIN sys.schemas AS s1param ON s1param.schema_id = usrt.schema_id LEFT OUTER JOIN sys.xml_schema_collections AS xscparam ON xscparam.xml_collection_id = param.xml_collection_id LEFT OUTER JOIN sys.schemas AS s2param ON s2param.schema_id = xscparam.schema_id WHERE (sp.type = N'P') and (sp.is_ms_shipped = 0)
--- smo | text of a procedure | StateService | some | definition, 
select c.definition,convert(bit,OBJECTPROPERTY(c.object_id,N'ExecIsQuotedIdentOn')) from [StateService].sys.sql_modules c where c.object_id = OBJECT_ID(N'dbo.proc_AddItem')
--- smo | properties of procedures | StateService | some | Name, Startup, ImplementationType, ForReplication, IsNativelyCompiled
SELECT sp.name AS [Name], CAST(ISNULL(spp.is_auto_executed,0) AS bit) AS [Startup], CASE WHEN sp.type = N'P' THEN 1 WHEN sp.type = N'PC' THEN 2 ELSE 1 END AS [ImplementationType], CAST(CASE sp.type WHEN N'RF' THEN 1 ELSE 0 END AS bit) AS [ForReplication], ISNULL(sm.uses_native_compilation,0) AS [IsNativelyCompiled] FROM sys.all_objects AS sp LEFT OUTER JOIN sys.procedures AS spp ON spp.object_id = sp.object_id LEFT OUTER JOIN sys.all_sql_modules AS sm ON sm.object_id = sp.object_id WHERE sp.type = N'P'
--- smo | text through joins | StateService | some | Name, Text
SELECT sp.name AS [Name], ISNULL(smsp.definition, ssmsp.definition) AS [Text] FROM sys.all_objects AS sp LEFT OUTER JOIN sys.sql_modules AS smsp ON smsp.object_id = sp.object_id LEFT OUTER JOIN sys.system_sql_modules AS ssmsp ON ssmsp.object_id = sp.object_id WHERE (sp.type = N'P')and(sp.name=N'proc_AddItem' and SCHEMA_NAME(sp.schema_id)=N'dbo')
--- smo | numbered procedures | StateService | none | Number
SELECT nsp.procedure_number AS [Number] FROM sys.all_objects AS sp INNER JOIN sys.numbered_procedures AS nsp ON nsp.object_id=sp.object_id WHERE sp.type = N'P'
--- smo | extended procedures | master | none | Name, Schema
SELECT obj.name AS [Name], SCHEMA_NAME(obj.schema_id) AS [Schema] FROM sys.all_objects AS obj WHERE (obj.type=N'X') ORDER BY [Schema] ASC,[Name] ASC
--- smo | functions | StateService | none | Name, Schema
SELECT udf.name AS [Name], SCHEMA_NAME(udf.schema_id) AS [Schema] FROM sys.all_objects AS udf WHERE (udf.type in ('TF', 'FN', 'IF', 'FS', 'FT')) ORDER BY [Schema] ASC,[Name] ASC

--: ---- views with columns

--- smo | views | StateService | some | Name, Schema, CreateDate, ID, Urn
SELECT v.name AS [Name], SCHEMA_NAME(v.schema_id) AS [Schema], v.create_date AS [CreateDate], v.object_id AS [ID], 'View[@Name=' + quotename(v.name,'''') + ' and @Schema=' + quotename(SCHEMA_NAME(v.schema_id),'''') + ']' AS [Urn] FROM sys.all_views AS v WHERE (v.type = N'V')and(CAST(case when v.is_ms_shipped = 1 then 1 when exists (select 1 from sys.extended_properties where major_id = v.object_id and minor_id = 0 and class = 1 and name = N'microsoft_database_tools_support') then 1 else 0 end AS bit)=0) ORDER BY [Schema] ASC,[Name] ASC
--- smo | columns of a view | StateService | some | Name, ID, Nullable, InPrimaryKey, DataType, SystemType, Length, NumericPrecision, NumericScale, IsForeignKey, Collation
SELECT clmns.name AS [Name], clmns.column_id AS [ID], clmns.is_nullable AS [Nullable], CAST(ISNULL(cik.index_column_id, 0) AS bit) AS [InPrimaryKey], usrt.name AS [DataType], ISNULL(baset.name, N'') AS [SystemType], CAST(CASE WHEN baset.name IN (N'nchar', N'nvarchar') AND clmns.max_length <> -1 THEN clmns.max_length/2 ELSE clmns.max_length END AS int) AS [Length], CAST(clmns.precision AS int) AS [NumericPrecision], CAST(clmns.scale AS int) AS [NumericScale], CAST(ISNULL((select TOP 1 1 from sys.foreign_key_columns AS colfk where colfk.parent_column_id = clmns.column_id and colfk.parent_object_id = clmns.object_id), 0) AS bit) AS [IsForeignKey], ISNULL(clmns.collation_name, N'') AS [Collation] FROM sys.all_views AS v INNER JOIN sys.all_columns AS clmns ON clmns.object_id=v.object_id LEFT OUTER JOIN sys.indexes AS ik ON ik.object_id = clmns.object_id and 1=ik.is_primary_key LEFT OUTER JOIN sys.index_columns AS cik ON cik.index_id = ik.index_id and cik.column_id = clmns.column_id and cik.object_id = clmns.object_id and 0 = cik.is_included_column LEFT OUTER JOIN sys.types AS usrt ON usrt.user_type_id = clmns.user_type_id LEFT OUTER JOIN sys.types AS baset ON (baset.user_type_id = clmns.system_type_id and baset.user_type_id = baset.system_type_id) WHERE (v.type = N'V')and(v.name=N'Items' and SCHEMA_NAME(v.schema_id)=N'dbo') ORDER BY [ID] ASC
--- smo | rarer facts of columns | StateService | some | Name, Default, Rule, IsDeterministic, IsPrecise, IsFullTextIndexed, IsSparse, IdentitySeed, ComputedText
SELECT clmns.name AS [Name], (case when clmns.default_object_id = 0 then N'' when d.parent_object_id > 0 then N'' else d.name end) AS [Default], (case when clmns.rule_object_id = 0 then N'' else r.name end) AS [Rule], CAST(ISNULL(COLUMNPROPERTY(clmns.object_id, clmns.name, N'IsDeterministic'),0) AS bit) AS [IsDeterministic], CAST(ISNULL(COLUMNPROPERTY(clmns.object_id, clmns.name, N'IsPrecise'),0) AS bit) AS [IsPrecise], CAST(COLUMNPROPERTY(clmns.object_id, clmns.name, N'IsFulltextIndexed') AS bit) AS [IsFullTextIndexed], CAST(clmns.is_sparse AS bit) AS [IsSparse], CAST(ISNULL(ic.seed_value,0) AS bigint) AS [IdentitySeed], ISNULL(cc.definition,N'') AS [ComputedText] FROM sys.all_views AS v INNER JOIN sys.all_columns AS clmns ON clmns.object_id=v.object_id LEFT OUTER JOIN sys.objects AS d ON d.object_id = clmns.default_object_id LEFT OUTER JOIN sys.objects AS r ON r.object_id = clmns.rule_object_id LEFT OUTER JOIN sys.computed_columns AS cc ON cc.object_id = clmns.object_id and cc.column_id = clmns.column_id LEFT OUTER JOIN sys.identity_columns AS ic ON ic.object_id = clmns.object_id and ic.column_id = clmns.column_id WHERE v.name=N'Items'
--- smo | system views | master | some | Name, Schema
SELECT v.name AS [Name], SCHEMA_NAME(v.schema_id) AS [Schema] FROM sys.all_views AS v WHERE (v.type = N'V')and(v.is_ms_shipped = 1) ORDER BY [Schema] ASC,[Name] ASC
--- smo | triggers of a view | StateService | none | Name, ID
SELECT tr.name AS [Name], tr.object_id AS [ID] FROM sys.all_views AS v INNER JOIN sys.triggers AS tr ON tr.parent_class = 1 AND tr.parent_id=v.object_id WHERE v.name=N'Items'
--- smo | indexes of a view | StateService | none | Name, ID, IsClustered, IsUnique
SELECT i.name AS [Name], CAST(i.index_id AS int) AS [ID], CAST(CASE i.index_id WHEN 1 THEN 1 ELSE 0 END AS bit) AS [IsClustered], i.is_unique AS [IsUnique] FROM sys.all_views AS v INNER JOIN sys.indexes AS i ON (i.index_id > 0 and i.is_hypothetical = 0) AND (i.object_id=v.object_id) LEFT OUTER JOIN sys.stats AS s ON s.stats_id = i.index_id AND s.object_id = i.object_id LEFT OUTER JOIN sys.key_constraints AS k ON k.parent_object_id = i.object_id AND k.unique_index_id = i.index_id WHERE v.name=N'Items' ORDER BY [Name] ASC
--- smo | statistics of a view | StateService | none | Name, ID
SELECT st.name AS [Name], st.stats_id AS [ID] FROM sys.all_views AS v INNER JOIN sys.stats st ON st.object_id=v.object_id WHERE v.name=N'Items' and SCHEMA_NAME(v.schema_id)=N'dbo' ORDER BY [Name] ASC
--- smo | the first thousand rows | StateService | any | Id, …
SELECT TOP (1000) [Id] ,[Locked] ,[Expires] FROM [StateService].[dbo].[Items]
--- smo | text of a view | StateService | some | Text
SELECT ISNULL(smv.definition, ssmv.definition) AS [Text] FROM sys.all_views AS v LEFT OUTER JOIN sys.sql_modules AS smv ON smv.object_id = v.object_id LEFT OUTER JOIN sys.system_sql_modules AS ssmv ON ssmv.object_id = v.object_id WHERE (v.name=N'Items' and SCHEMA_NAME(v.schema_id)=N'dbo')
--- smo | extended properties of a view | StateService | none | Name, Value
SELECT p.name AS [Name], CAST(p.value AS nvarchar(4000)) AS [Value] FROM sys.all_views AS v INNER JOIN sys.extended_properties AS p ON p.major_id=v.object_id AND p.minor_id=0 AND p.class=1 WHERE v.name=N'Items' ORDER BY [Name] ASC

--: ---- other branches of the tree

--- smo | tables | StateService | none | Name, Schema, CreateDate, …
SELECT tbl.name AS [Name], SCHEMA_NAME(tbl.schema_id) AS [Schema], tbl.create_date AS [CreateDate], tbl.is_memory_optimized AS [IsMemoryOptimized], tbl.temporal_type AS [TemporalType], tbl.is_external AS [IsExternal] FROM sys.tables AS tbl ORDER BY [Schema] ASC,[Name] ASC
--- smo | users | StateService | some | Name, ID, IsSystemObject, LoginType, HasDBAccess, Login, DefaultSchema, UserType
SELECT u.name AS [Name], u.principal_id AS [ID], CAST(CASE WHEN u.principal_id < 5 OR (u.principal_id >= 16384 and u.principal_id < 16400) THEN 1 ELSE 0 END AS bit) AS [IsSystemObject], CASE WHEN N'U' = u.type THEN 0 WHEN N'G' = u.type THEN 1 WHEN N'S' = u.type THEN 2 WHEN N'C' = u.type THEN 3 WHEN N'K' = u.type THEN 4 END AS [LoginType], CAST(CASE dp.state WHEN N'G' THEN 1 WHEN 'W' THEN 1 ELSE 0 END AS bit) AS [HasDBAccess], ISNULL(suser_sname(u.sid),N'') AS [Login], ISNULL(u.default_schema_name,N'') AS [DefaultSchema], CASE WHEN N'C' = u.type THEN 1 WHEN N'K' = u.type THEN 2 WHEN N'S' = u.type AND suser_sname(u.sid) is null AND u.authentication_type != 2 THEN 3 ELSE 0 END AS [UserType] FROM sys.database_principals AS u LEFT OUTER JOIN sys.database_permissions AS dp ON dp.grantee_principal_id = u.principal_id and dp.type = N'CO' WHERE (u.type in ('U', 'S', 'G', 'C', 'K' ,'E', 'X')) ORDER BY [Name] ASC
--- smo | roles of a database | StateService | some | Name, ID, Owner, IsFixedRole
SELECT rl.name AS [Name], rl.principal_id AS [ID], ou.name AS [Owner], CAST(CASE WHEN rl.principal_id > 16383 AND rl.principal_id < 16400 THEN 1 ELSE 0 END AS bit) AS [IsFixedRole] FROM sys.database_principals AS rl INNER JOIN sys.database_principals AS ou ON ou.principal_id = rl.owning_principal_id WHERE (rl.type = 'R') ORDER BY [Name] ASC
--- smo | members of roles | StateService | some | Role, Member
SELECT r.name AS [Role], m.name AS [Member] FROM sys.database_role_members rm JOIN sys.database_principals r ON r.principal_id = rm.role_principal_id JOIN sys.database_principals m ON m.principal_id = rm.member_principal_id
--- smo | application roles | StateService | none | Name
SELECT rl.name AS [Name] FROM sys.database_principals AS rl WHERE (rl.type = 'A') ORDER BY [Name] ASC
--- smo | schemas | StateService | some | Name, ID, Owner, IsSystemObject
SELECT s.name AS [Name], s.schema_id AS [ID], ISNULL(dp1.name, N'') AS [Owner], CAST(case when s.name in ('dbo','guest','INFORMATION_SCHEMA','sys','db_owner','db_accessadmin') then 1 else 0 end AS bit) AS [IsSystemObject] FROM sys.schemas AS s LEFT OUTER JOIN sys.database_principals AS dp1 ON dp1.principal_id = s.principal_id ORDER BY [Name] ASC
--- smo | logins | master | some | Name, ID, LoginType, IsDisabled, HasAccess, DefaultDatabase, Language, …
SELECT log.name AS [Name], log.principal_id AS [ID], CASE WHEN N'U' = log.type THEN 0 WHEN N'G' = log.type THEN 1 WHEN N'S' = log.type THEN 2 WHEN N'C' = log.type THEN 3 WHEN N'K' = log.type THEN 4 WHEN N'E' = log.type THEN 5 WHEN N'X' = log.type THEN 6 END AS [LoginType], log.is_disabled AS [IsDisabled], CAST(CASE WHEN (sp.state is null) THEN 0 ELSE 1 END AS bit) AS [HasAccess], ISNULL(log.default_database_name, N'') AS [DefaultDatabase], ISNULL(log.default_language_name,N'') AS [Language], l.alias AS [LanguageAlias], CAST(ISNULL(sqllog.is_policy_checked, 0) AS bit) AS [PasswordPolicyEnforced], ISNULL(cert.name,N'') AS [Certificate], ISNULL(ak.name,N'') AS [AsymmetricKey], ISNULL(c.name,N'') AS [Credential] FROM sys.server_principals AS log LEFT OUTER JOIN sys.syslanguages AS l ON l.name = log.default_language_name LEFT OUTER JOIN sys.sql_logins AS sqllog ON sqllog.principal_id = log.principal_id LEFT OUTER JOIN sys.server_permissions AS sp ON sp.grantee_principal_id = log.principal_id and sp.type = N'COSQ' LEFT OUTER JOIN master.sys.certificates AS cert ON cert.sid = log.sid LEFT OUTER JOIN master.sys.asymmetric_keys AS ak ON ak.sid = log.sid LEFT OUTER JOIN sys.credentials AS c ON c.credential_id = log.credential_id WHERE (log.type in ('U', 'G', 'S', 'C', 'K', 'E', 'X') AND log.principal_id not between 101 and 255 AND log.name <> N'##MS_AgentSigningCertificate##') ORDER BY [Name] ASC
--- smo | state of logins | master | some | Name, IsLocked, IsPasswordExpired
SELECT log.name AS [Name], CAST(LOGINPROPERTY(log.name, N'IsLocked') AS bit) AS [IsLocked], CAST(LOGINPROPERTY(log.name, N'IsExpired') AS bit) AS [IsPasswordExpired] FROM sys.server_principals AS log WHERE log.type = 'S'
--- smo | roles of the server | master | some | Name, ID, IsFixedRole, Owner
SELECT r.name AS [Name], r.principal_id AS [ID], CAST(r.is_fixed_role AS bit) AS [IsFixedRole], ou.name AS [Owner] FROM sys.server_principals r LEFT OUTER JOIN sys.server_principals AS ou ON ou.principal_id = r.owning_principal_id WHERE (r.type ='R') ORDER BY [Name] ASC
--- smo | credentials | master | none | Name
SELECT c.name AS [Name] FROM sys.credentials AS c ORDER BY [Name] ASC
--- smo | linked servers | master | none | Name, Product, Provider
SELECT srv.name AS [Name], srv.product AS [Product], srv.provider AS [Provider] FROM sys.servers AS srv WHERE (srv.server_id != 0) ORDER BY [Name] ASC
--- smo | this server | master | some | name, server_id
SELECT name, server_id FROM sys.servers WHERE server_id = 0
--- smo | endpoints | master | some | Name, ID
SELECT e.name AS [Name], e.endpoint_id AS [ID] FROM sys.endpoints AS e ORDER BY [Name] ASC
--- smo | triggers of the server | master | none | Name
SELECT tr.name AS [Name] FROM master.sys.server_triggers AS tr WHERE (tr.parent_class = 100) ORDER BY [Name] ASC
--- smo | triggers of a database | StateService | none | Name
SELECT tr.name AS [Name] FROM sys.triggers AS tr WHERE (tr.parent_class = 0) ORDER BY [Name] ASC
--- smo | synonyms | StateService | none | Name, Schema, base_object_name
SELECT s.name AS [Name], SCHEMA_NAME(s.schema_id) AS [Schema], s.base_object_name FROM sys.synonyms AS s ORDER BY [Schema] ASC,[Name] ASC
--- smo | sequences | StateService | none | Name, Schema, StartValue
SELECT seq.name AS [Name], SCHEMA_NAME(seq.schema_id) AS [Schema], seq.start_value AS [StartValue] FROM sys.sequences AS seq ORDER BY [Schema] ASC,[Name] ASC
--- smo | data types of users | StateService | none | Schema, Name
SELECT SCHEMA_NAME(st.schema_id) AS [Schema], st.name AS [Name] FROM sys.types AS st WHERE (st.schema_id!=4 and st.system_type_id!=240 and st.user_type_id != st.system_type_id and st.is_table_type != 1) ORDER BY [Schema] ASC,[Name] ASC
--- smo | table types | StateService | none | Schema, Name
SELECT SCHEMA_NAME(tt.schema_id) AS [Schema], tt.name AS [Name] FROM sys.table_types AS tt INNER JOIN sys.objects AS obj ON obj.object_id = tt.type_table_object_id ORDER BY [Schema] ASC,[Name] ASC
--- smo | data types of the system | StateService | some | Name
SELECT st.name AS [Name] FROM sys.types st WHERE st.is_user_defined = 0 ORDER BY [Name]
--- smo | xml schema collections | StateService | none | Name, Schema
SELECT xproc.name AS [Name], SCHEMA_NAME(xproc.schema_id) AS [Schema] FROM sys.xml_schema_collections AS xproc WHERE xproc.schema_id != 4
--- smo | assemblies | StateService | none | Name
SELECT asmbl.name AS [Name] FROM sys.assemblies AS asmbl ORDER BY [Name] ASC
--- smo | rules and defaults | StateService | none | Name, Schema
SELECT r.name AS [Name], SCHEMA_NAME(r.schema_id) AS [Schema] FROM sys.objects AS r WHERE (r.type = N'R')and(r.parent_object_id = 0) ORDER BY [Schema] ASC,[Name] ASC
--- smo | full-text catalogues | StateService | none | Name
SELECT cat.name AS [Name] FROM sys.fulltext_catalogs AS cat ORDER BY [Name] ASC
--- smo | queues | StateService | none | Name, Schema
SELECT qs.name AS [Name], SCHEMA_NAME(qs.schema_id) AS [Schema] FROM sys.service_queues AS qs ORDER BY [Name] ASC
--- smo | services | StateService | none | Name
SELECT s.name AS [Name] FROM sys.services AS s ORDER BY [Name] ASC
--- smo | message types | StateService | none | Name
SELECT mt.name AS [Name] FROM sys.service_message_types AS mt ORDER BY [Name] ASC
--- smo | partition functions and schemes | StateService | none | Name
SELECT pf.name AS [Name] FROM sys.partition_functions AS pf LEFT JOIN sys.partition_schemes ps ON ps.function_id = pf.function_id ORDER BY [Name] ASC
--- smo | filegroups and files | StateService | some | FileGroup, Name, FileName, Size
SELECT g.name AS [FileGroup], s.name AS [Name], s.physical_name AS [FileName], s.size * CONVERT(float,8) AS [Size] FROM sys.filegroups AS g INNER JOIN sys.database_files AS s ON ((s.type = 2 or s.type = 0) and s.drop_lsn IS NULL) AND (s.data_space_id=g.data_space_id) ORDER BY [Name] ASC
--- smo | security policies | StateService | none | Name
SELECT sp.name AS [Name] FROM sys.security_policies AS sp ORDER BY [Name] ASC
--- smo | keys of Always Encrypted | StateService | none | Name
SELECT cmk.name AS [Name] FROM sys.column_master_keys AS cmk
--- smo | certificates and keys | StateService | none | Name
SELECT c.name AS [Name] FROM sys.certificates AS c UNION ALL SELECT k.name FROM sys.symmetric_keys k UNION ALL SELECT a.name FROM sys.asymmetric_keys a
--- smo | audits | master | none | Name
SELECT a.name AS [Name] FROM sys.server_audits AS a ORDER BY [Name] ASC
--- smo | availability groups | master | none | Name
SELECT ag.name AS [Name] FROM master.sys.availability_groups AS ag LEFT OUTER JOIN master.sys.availability_replicas AS ar ON ag.group_id = ar.group_id
--- smo | backup devices | master | none | Name
SELECT bd.name AS [Name] FROM sys.backup_devices AS bd
--- smo | languages | master | some | Name, LangID, Alias
SELECT lang.name AS [Name], lang.langid AS [LangID], lang.alias AS [Alias] FROM sys.syslanguages AS lang ORDER BY [Name] ASC
--- smo | collations | master | some | Name, Description
SELECT cl.name AS [Name], cl.description AS [Description] FROM ::fn_helpcollations() cl ORDER BY [Name] ASC
--- smo | query store | StateService | none | actual_state, readonly_reason
SELECT actual_state, readonly_reason FROM sys.database_query_store_options
--- smo | dependencies of a procedure | StateService | none | referenced_entity_name
SELECT dep.referenced_entity_name FROM sys.sql_expression_dependencies dep WHERE dep.referencing_id = OBJECT_ID(N'dbo.proc_AddItem')
--- smo | permissions | StateService | any | Grantee, PermissionState, Code
SELECT grantee_principal.name AS [Grantee], prmssn.state AS [PermissionState], prmssn.type AS [Code] FROM sys.database_permissions AS prmssn INNER JOIN sys.database_principals AS grantee_principal ON grantee_principal.principal_id = prmssn.grantee_principal_id WHERE prmssn.class = 0

--: ---- Azure Data Studio, VS Code (SQL Tools Service)

--- ads | server information | master | some | , , , , , , , 
SELECT SERVERPROPERTY('EngineEdition'), SERVERPROPERTY('productversion'), SERVERPROPERTY ('productlevel'), SERVERPROPERTY ('edition'), SERVERPROPERTY ('MachineName'), SERVERPROPERTY ('ServerName'), (SELECT CASE WHEN EXISTS (SELECT TOP 1 1 from [sys].[all_columns] WITH (NOLOCK) WHERE name = N'xml_index_type' AND OBJECT_ID(N'sys.xml_indexes') = object_id) THEN 1 ELSE 0 END AS SXI_PRESENT), @@MICROSOFTVERSION
--- ads | host | master | some | host_platform, host_distribution, host_release, host_service_pack_level, host_sku, os_language_version
SELECT [host_platform], [host_distribution], [host_release], [host_service_pack_level], [host_sku], [os_language_version] FROM sys.dm_os_host_info
--- ads | machine | master | some | cpu_count, physical_memory_kb
SELECT cpu_count, physical_memory_kb FROM sys.dm_os_sys_info
--- ads | databases of the connection box | master | some | name
SELECT name FROM sys.databases WHERE state_desc='ONLINE' ORDER BY name ASC
--- ads | compatibility level | StateService | some | compatibility_level
SELECT compatibility_level FROM sys.databases WITH (NOLOCK) WHERE name = N'StateService'
--- ads | where it was authenticated | StateService | some | 
use [StateService];
if (db_id() = 1)
    begin
    select 0
    end
else
    begin
    exec('select case when authenticating_database_id = 1 then 0 else 1 end from sys.dm_exec_sessions where session_id = @@SPID')
    end
--- ads | session of Azure | master | some | 
SELECT CONVERT(NVARCHAR(36), CONTEXT_INFO())
--- ads | options | master | some | , 
SELECT ISNULL(SESSIONPROPERTY ('ANSI_NULLS'), 0), ISNULL(SESSIONPROPERTY ('QUOTED_IDENTIFIER'), 1)
--- ads | edition number | master | some | EditionID
SELECT CAST(SERVERPROPERTY('EditionID') AS bigint) AS EditionID;
--- ads | owner of a database | StateService | some | 
select suser_sname((select sid from sys.database_principals where name = N'dbo'));
--- ads | rights for the designer | StateService | some | 
SELECT HAS_PERMS_BY_NAME(QUOTENAME(N'StateService'), 'DATABASE', 'CREATE TABLE')
--- ads | objects for completion | StateService | some | schema_name, object_name, object_type
SELECT s.name AS schema_name, o.[name] AS object_name, o.[type] AS object_type FROM sys.all_objects o INNER JOIN sys.schemas s ON o.schema_id = s.schema_id WHERE o.type IN ('P', 'V', 'U', 'AF', 'FN', 'IF', 'TF') ORDER BY object_name
--- ads | columns of an object | StateService | some | ORDINAL_POSITION, COLUMN_NAME, DATA_TYPE, …
SELECT ORDINAL_POSITION, COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'dbo' AND TABLE_NAME = 'Items' ORDER BY ORDINAL_POSITION
--- ads | dashboard: databases with sizes | master | some | name, size, …
SELECT db.name, CAST(SUM(mf.size) AS bigint) * 8 / 1024 AS size, db.state_desc FROM sys.databases db LEFT JOIN sys.master_files mf ON mf.database_id = db.database_id GROUP BY db.name, db.state_desc ORDER BY db.name
--- ads | dashboard: search | StateService | some | Name, Schema, Type
SELECT o.name AS [Name], SCHEMA_NAME(o.schema_id) AS [Schema], o.type AS [Type] FROM sys.objects o WHERE o.type IN ('U','V','P','FN','TF') AND o.name LIKE N'%item%'
--- ads | backup history | master | none | database_name
--! msdb: there are no jobs and no history of backups
SELECT database_name FROM msdb.dbo.backupset

--: ---- DBeaver

--- dbeaver | can tables be external | StateService | none | is_external
SELECT TOP 1 is_external from sys.tables where 1<>1
--- dbeaver | version | master | some | 
SELECT @@VERSION
--- dbeaver | has COLUMNPROPERTY | master | some | 
SELECT COLUMNPROPERTY(0, NULL, NULL)
--- dbeaver | edition | master | some | 
SELECT SERVERPROPERTY('EngineEdition')
--- dbeaver | where the session is | StateService | some | , , 
SELECT db_name(), schema_name(), original_login()
--- dbeaver | databases | master | some | name, database_id, …
SELECT db.* FROM sys.databases db ORDER BY db.name
--- dbeaver | one database | StateService | some | name, …
SELECT db.* FROM sys.databases db WHERE db.name = db_name()
--- dbeaver | sizes of databases | master | some | database_id, 
SELECT database_id, SUM(size)
FROM sys.master_files WITH(NOWAIT)
GROUP BY database_id
--- dbeaver | data types | master | some | name, system_type_id, …
SELECT * FROM sys.types WHERE is_user_defined = 0 order by name
--- dbeaver | logins | master | some | name, principal_id, …
SELECT * FROM sys.server_principals
--- dbeaver | types of users | StateService | none | name, …
SELECT ss.*, tt.type_table_object_id,tto.schema_id as type_table_schema_id
FROM [StateService].sys.types ss
LEFT JOIN [StateService].sys.table_types tt ON ss.name = tt.name AND ss.user_type_id = tt.user_type_id
LEFT OUTER JOIN [StateService].sys.objects tto ON tto.object_id = tt.type_table_object_id
WHERE ss.is_user_defined = 1
--- dbeaver | schemas | StateService | some | name, schema_id, principal_id, description
SELECT s.*,ep.value as description FROM [StateService].sys.schemas s
LEFT OUTER JOIN [StateService].sys.extended_properties ep ON ep.class=3 AND ep.major_id=s.schema_id AND ep.minor_id=0 AND ep.name='MS_Description'
--- dbeaver | schemas that are used | StateService | some | name, schema_id, principal_id, description
SELECT DISTINCT s.*,ep.value as description FROM [StateService].sys.schemas s
LEFT OUTER JOIN [StateService].sys.extended_properties ep ON ep.class=3 AND ep.major_id=s.schema_id AND ep.minor_id=0 AND ep.name='MS_Description'
INNER JOIN [StateService].sys.all_objects o ON s.schema_id=o.schema_id
--- dbeaver | triggers of a database | StateService | none | name, …
SELECT t.* FROM 
[StateService].sys.triggers t
WHERE t.parent_id=0
ORDER BY t.name
--- dbeaver | tables and views of a schema | StateService | some | name, object_id, …
SELECT o.*,ep.value as description,t.is_external FROM [StateService].sys.all_objects o
LEFT OUTER JOIN [StateService].sys.extended_properties ep ON ep.class=1 AND ep.major_id=o.object_id AND ep.minor_id=0 AND ep.name='MS_Description'
LEFT OUTER JOIN [StateService].sys.tables t ON t.object_id=o.object_id
WHERE o.type IN ('U','S','V','TT') AND o.schema_id = 1
ORDER BY o.name
--- dbeaver | columns of a schema | StateService | some | object_id, name, column_id, …
--? 1
SELECT c.*,t.name as table_name,t.schema_id,cc.is_persisted,cc.definition as computed_definition, COLUMNPROPERTY(c.object_id, c.name, 'charmaxlen') as char_max_length, dc.definition as default_definition,dc.name as default_constraint_name,ep.value as description
FROM [StateService].sys.all_columns c
JOIN [StateService].sys.all_objects t ON t.object_id=c.object_id
LEFT OUTER JOIN [StateService].sys.default_constraints dc ON dc.parent_object_id=t.object_id AND dc.parent_column_id=c.column_id
LEFT OUTER JOIN [StateService].sys.extended_properties ep ON ep.class=1 AND ep.major_id=t.object_id AND ep.minor_id=c.column_id AND ep.name='MS_Description'
LEFT OUTER JOIN [StateService].sys.computed_columns cc ON cc.object_id=t.object_id AND cc.column_id=c.column_id
WHERE t.schema_id=?
ORDER BY c.object_id,c.column_id
--- dbeaver | indexes of a schema | StateService | none | object_id, …
--? 1
SELECT i.*,ic.index_column_id,ic.column_id,ic.key_ordinal,ic.is_descending_key,ic.is_included_column,t.name as table_name
FROM [StateService].sys.indexes i, [StateService].sys.index_columns ic, [StateService].sys.all_objects t
WHERE t.object_id = i.object_id AND ic.object_id=i.object_id AND ic.index_id=i.index_id AND t.schema_id = ?
ORDER BY i.object_id,i.index_id,ic.key_ordinal
--- dbeaver | keys of a schema | StateService | none | name, …
--? 1
SELECT kc.*,t.name as table_name FROM 
[StateService].sys.key_constraints kc,[StateService].sys.tables t
WHERE kc.parent_object_id=t.object_id AND kc.schema_id=?
ORDER BY kc.name
--- dbeaver | foreign keys of a schema | StateService | none | table_name, name, …
--? 1
SELECT t.name as table_name,fk.name,fk.key_index_id,fk.is_disabled,fk.delete_referential_action,fk.update_referential_action,fkc.*,tr.schema_id referenced_schema_id
FROM [StateService].sys.tables t,[StateService].sys.foreign_keys fk,[StateService].sys.foreign_key_columns fkc,[StateService].sys.tables tr
WHERE t.object_id = fk.parent_object_id AND fk.object_id=fkc.constraint_object_id AND tr.object_id=fk.referenced_object_id AND t.schema_id=?
ORDER BY fkc.constraint_object_id, fkc.constraint_column_id
--- dbeaver | sequences of a schema | StateService | none | name, …
--? 1
SELECT s.* FROM 
[StateService].sys.sequences s
WHERE s.schema_id=?
ORDER BY s.name
--- dbeaver | synonyms of a schema | StateService | none | name, …
--? 1
SELECT s.* FROM 
[StateService].sys.synonyms s
WHERE s.schema_id=?
ORDER BY s.name
--- dbeaver | procedures of a schema | StateService | some | name, object_id, …
--? 1
SELECT p.*,ep.value as description
FROM [StateService].sys.all_objects p
LEFT OUTER JOIN [StateService].sys.extended_properties ep ON ep.class=1 AND ep.major_id=p.object_id AND ep.minor_id=0 AND ep.name='MS_Description'
WHERE p.type IN ('P','PC','X','TF','FN','IF') AND p.schema_id=?
ORDER BY p.name
--- dbeaver | parameters of a schema's procedures | StateService | some | proc_name, object_id, …
--? 1
SELECT p.name as proc_name,pp.* FROM 
[StateService].sys.all_objects p, [StateService].sys.all_parameters pp
WHERE p.type IN ('P','PC','X','TF','FN','IF') AND p.object_id = pp.object_id AND p.schema_id = ?
ORDER BY pp.object_id, pp.parameter_id
--- dbeaver | triggers of tables | StateService | none | name, …
--? 1
SELECT  t.*, (SELECT STRING_AGG(te.type_desc, ', ') FROM [StateService].sys.trigger_events te
WHERE t.object_id = te.object_id) as trigger_type FROM 
[StateService].sys.triggers t,[StateService].sys.all_objects o
WHERE o.object_id=t.object_id AND o.schema_id=?
ORDER BY t.name
--- dbeaver | text of an object | StateService | any | definition
--? 1
SELECT definition FROM [StateService].sys.sql_modules WHERE object_id = ?
--- dbeaver | text by name | StateService | some | definition
SELECT definition FROM sys.sql_modules WHERE object_id = (OBJECT_ID(N'dbo.Items'))
--- dbeaver | has a comment | StateService | none | 
--? 1, 5, 0
SELECT 1 FROM [StateService].sys.extended_properties WHERE [class] = ? AND [major_id] = ? AND [minor_id] = ? AND [name] = N'MS_Description'
--- dbeaver | extended properties of an object | StateService | none | class, …
--? 5, 0, 1
SELECT ep.*, TYPE_ID(CAST(SQL_VARIANT_PROPERTY(value, 'BaseType') as nvarchar)) AS value_type FROM [StateService].sys.extended_properties ep WHERE ep.major_id=? AND ep.minor_id=? AND ep.class=? ORDER BY ep.minor_id
--- dbeaver | sizes of tables | StateService | none | name, rows, totalSize, usedSize
--? 1
SELECT t.name, p.rows, SUM(a.total_pages) * 8 AS totalSize, SUM(a.used_pages) * 8 AS usedSize
FROM [StateService].sys.tables t
INNER JOIN [StateService].sys.indexes i ON t.OBJECT_ID = i.object_id
INNER JOIN [StateService].sys.partitions p ON i.object_id = p.OBJECT_ID AND i.index_id = p.index_id
INNER JOIN [StateService].sys.allocation_units a ON p.partition_id = a.container_id
LEFT OUTER JOIN [StateService].sys.schemas s ON t.schema_id = s.schema_id
WHERE t.schema_id = ?
GROUP BY t.name, p.rows
--- dbeaver | check constraints of a table | StateService | none | name, …
--? 5
SELECT c.* FROM [StateService].sys.check_constraints c WHERE c.parent_object_id=?
--- dbeaver | references to a table | StateService | none | schema_id, table_name, key_name
--? 5
SELECT t.schema_id as schema_id,t.name as table_name,fk.name as key_name
FROM [StateService].sys.tables t, [StateService].sys.foreign_keys fk, [StateService].sys.tables tr
WHERE t.object_id = fk.parent_object_id AND tr.object_id=fk.referenced_object_id AND fk.referenced_object_id=?
ORDER BY 1,2,3
--- dbeaver | search for an object | StateService | some | name, object_id, …
SELECT TOP 100 * FROM [StateService].sys.all_objects o WHERE o.type IN ('P','V','U') AND o.name LIKE '%Item%' ORDER BY o.name
--- dbeaver | sessions | master | some | session_id, …
SELECT s.*,db.name as database_name,c.connection_id,(select text from sys.dm_exec_sql_text(c.most_recent_sql_handle)) as sql_text
FROM sys.dm_exec_sessions s
LEFT OUTER JOIN sys.dm_exec_connections c ON c.session_id=s.session_id
LEFT OUTER JOIN sys.sysdatabases db on db.dbid=s.database_id
ORDER BY s.session_id DESC

--: ---- mssql-jdbc: DatabaseMetaData

--- jdbc | catalogues | StateService | some | TABLE_CAT
SELECT name AS TABLE_CAT FROM sys.databases order by name
--- jdbc | schemas | StateService | some | TABLE_SCHEM, TABLE_CATALOG
select sys.schemas.name 'TABLE_SCHEM', DB_NAME() 'TABLE_CATALOG'    from sys.schemas order by 2, 1
--- jdbc | schemas of a catalogue | StateService | none | TABLE_SCHEM, TABLE_CATALOG
select [StateService].sys.schemas.name 'TABLE_SCHEM','StateService' 'TABLE_CATALOG'    from [StateService].sys.schemas where [StateService].sys.schemas.name not in  ('dbo', 'guest','INFORMATION_SCHEMA','sys','db_owner', 'db_accessadmin', 'db_securityadmin', 'db_ddladmin'  ,'db_backupoperator','db_datareader','db_datawriter','db_denydatareader','db_denydatawriter')  order by 2, 1
--- jdbc | kinds of tables | StateService | some | TABLE_TYPE
SELECT 'VIEW' 'TABLE_TYPE' UNION SELECT 'TABLE' UNION SELECT 'SYSTEM TABLE'
--- jdbc | types | StateService | some | TYPE_NAME, DATA_TYPE, PRECISION, …
sp_datatype_info_100 @ODBCVer=3
--- jdbc | tables | StateService | some | TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, REMARKS
exec sp_tables N'%', N'dbo', N'StateService', N'''VIEW'',''TABLE'''
--- jdbc | columns | StateService | some | TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, COLUMN_NAME, …
exec sp_columns_100 N'Items', N'dbo', N'StateService', NULL, 3
--- jdbc | columns through a table variable | StateService | some | TABLE_CAT, TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, DATA_TYPE, TYPE_NAME, COLUMN_SIZE, DECIMAL_DIGITS, NULLABLE, REMARKS, COLUMN_DEF, SCOPE_TABLE, SOURCE_DATA_TYPE, IS_AUTOINCREMENT, ORDINAL_POSITION, SS_UDT_ASSEMBLY_TYPE_NAME
--? 'Items', '%', 'StateService', '%', 2, 3
DECLARE @result TABLE(TABLE_QUALIFIER SYSNAME, TABLE_OWNER SYSNAME, TABLE_NAME SYSNAME, COLUMN_NAME SYSNAME, DATA_TYPE SMALLINT, TYPE_NAME SYSNAME, PRECISION INT, LENGTH INT, SCALE SMALLINT, RADIX SMALLINT, NULLABLE SMALLINT, REMARKS VARCHAR(254), COLUMN_DEF NVARCHAR(4000), SQL_DATA_TYPE SMALLINT, SQL_DATETIME_SUB SMALLINT, CHAR_OCTET_LENGTH INT, ORDINAL_POSITION INT, IS_NULLABLE VARCHAR(254), SS_IS_SPARSE SMALLINT, SS_IS_COLUMN_SET SMALLINT, SS_IS_COMPUTED SMALLINT, SS_IS_IDENTITY SMALLINT, SS_UDT_CATALOG_NAME NVARCHAR(128), SS_UDT_SCHEMA_NAME NVARCHAR(128), SS_UDT_ASSEMBLY_TYPE_NAME NVARCHAR(max), SS_XML_SCHEMACOLLECTION_CATALOG_NAME NVARCHAR(128), SS_XML_SCHEMACOLLECTION_SCHEMA_NAME NVARCHAR(128), SS_XML_SCHEMACOLLECTION_NAME NVARCHAR(128), SS_DATA_TYPE TINYINT);INSERT INTO @result EXEC sp_columns_100 ?,?,?,?,?,?;SELECT TABLE_QUALIFIER AS TABLE_CAT, TABLE_OWNER AS TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, CAST(DATA_TYPE AS INT) AS DATA_TYPE, TYPE_NAME, PRECISION AS COLUMN_SIZE, CAST(SCALE AS INT) AS DECIMAL_DIGITS, CAST(NULLABLE AS INT) AS NULLABLE, CAST(REMARKS AS VARCHAR) AS REMARKS, COLUMN_DEF, CAST(NULL AS VARCHAR) AS SCOPE_TABLE, CAST(SS_DATA_TYPE AS SMALLINT) AS SOURCE_DATA_TYPE, CASE SS_IS_IDENTITY WHEN 0 THEN 'NO' WHEN 1 THEN 'YES' WHEN '' THEN '' END AS IS_AUTOINCREMENT, ORDINAL_POSITION, SS_UDT_ASSEMBLY_TYPE_NAME FROM @result ORDER BY TABLE_CAT, TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION;
--- jdbc | keys through a table variable | StateService | none | PKTABLE_CAT, PKTABLE_NAME, KEY_SEQ, UPDATE_RULE, FK_NAME, PK_NAME, DEFERRABILITY
--? 'Items', 'dbo', 'StateService', None, None, None
DECLARE @keys table (PKTABLE_QUALIFIER sysname, PKTABLE_OWNER sysname, PKTABLE_NAME sysname, PKCOLUMN_NAME sysname, FKTABLE_QUALIFIER sysname, FKTABLE_OWNER sysname, FKTABLE_NAME sysname, FKCOLUMN_NAME sysname, KEY_SEQ smallint, UPDATE_RULE smallint, DELETE_RULE smallint, FK_NAME sysname, PK_NAME sysname, DEFERRABILITY smallint);INSERT INTO @keys EXEC sp_fkeys ?,?,?,?,?,?;SELECT t.PKTABLE_QUALIFIER AS PKTABLE_CAT, t.PKTABLE_NAME, t.KEY_SEQ, CASE s.update_referential_action WHEN 1 THEN 0 WHEN 0 THEN 3 WHEN 2 THEN 2 WHEN 3 THEN 4 END as UPDATE_RULE, t.FK_NAME, t.PK_NAME, t.DEFERRABILITY FROM @keys t LEFT JOIN sys.foreign_keys s ON t.FK_NAME = s.name COLLATE database_default AND schema_id(t.FKTABLE_OWNER) = s.schema_id ORDER BY PKTABLE_CAT, PKTABLE_NAME, KEY_SEQ
--- jdbc | indexes through a table variable | StateService | any | TABLE_CAT, TABLE_SCHEM, TABLE_NAME, NON_UNIQUE, INDEX_NAME, TYPE, ORDINAL_POSITION, ASC_OR_DESC, PAGES, FILTER_CONDITION
--? 'Items', 'dbo', 'StateService', '%', 'N', 'Q', 'Items', 'dbo'
DECLARE @found TABLE(TABLE_QUALIFIER sysname NULL, TABLE_OWNER sysname NULL, TABLE_NAME sysname NULL, NON_UNIQUE smallint NULL, INDEX_QUALIFIER sysname NULL, INDEX_NAME sysname NULL, TYPE smallint NULL, ORDINAL_POSITION smallint NULL, COLUMN_NAME sysname NULL, ASC_OR_DESC varchar(1) NULL, CARDINALITY int NULL, PAGES int NULL, FILTER_CONDITION varchar(128) NULL); INSERT INTO @found EXEC sp_statistics ?, ?, ?, ?, ?, ?; SELECT TABLE_QUALIFIER COLLATE DATABASE_DEFAULT AS TABLE_CAT, TABLE_OWNER COLLATE DATABASE_DEFAULT AS TABLE_SCHEM, TABLE_NAME COLLATE DATABASE_DEFAULT AS TABLE_NAME, NON_UNIQUE, INDEX_NAME COLLATE DATABASE_DEFAULT AS INDEX_NAME, TYPE, ORDINAL_POSITION, ASC_OR_DESC, PAGES, FILTER_CONDITION FROM @found UNION ALL SELECT db_name() AS TABLE_CAT, sch.name COLLATE DATABASE_DEFAULT AS TABLE_SCHEM, t.name COLLATE DATABASE_DEFAULT AS TABLE_NAME, CASE WHEN i.is_unique = 1 THEN 0 ELSE 1 END AS NON_UNIQUE, i.name COLLATE DATABASE_DEFAULT AS INDEX_NAME, i.type AS TYPE, CAST(ic.index_column_id AS SMALLINT) AS ORDINAL_POSITION, CASE WHEN ic.is_descending_key = 1 THEN 'D' ELSE 'A' END AS ASC_OR_DESC, CASE WHEN i.index_id <= 1 THEN ps.used_page_count ELSE NULL END AS PAGES, NULL AS FILTER_CONDITION FROM sys.indexes i INNER JOIN sys.index_columns ic ON i.object_id = ic.object_id AND i.index_id = ic.index_id INNER JOIN sys.tables t ON i.object_id = t.object_id INNER JOIN sys.schemas sch ON t.schema_id = sch.schema_id LEFT JOIN sys.dm_db_partition_stats ps ON ps.object_id = i.object_id AND ps.index_id = i.index_id AND ps.index_id IN (0,1) WHERE t.name = ? AND sch.name = ? AND i.type IN (5, 6) ORDER BY NON_UNIQUE, TYPE, INDEX_NAME COLLATE DATABASE_DEFAULT, ORDINAL_POSITION
--- jdbc | primary keys | StateService | none | TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, COLUMN_NAME, KEY_SEQ, PK_NAME
exec sp_pkeys N'Items', N'dbo', N'StateService'
--- jdbc | foreign keys | StateService | none | PKTABLE_QUALIFIER, …
exec sp_fkeys N'Items', N'dbo', N'StateService', NULL, NULL, NULL
--- jdbc | indexes | StateService | none | TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, NON_UNIQUE, …
exec sp_statistics_100 N'Items', N'dbo', N'StateService', N'%', N'N', N'Q'
--- jdbc | indexes of the catalogue | StateService | none | TABLE_CAT, TABLE_SCHEM, TABLE_NAME, NON_UNIQUE, …
--? 'Items', 'dbo'
SELECT db_name() AS TABLE_CAT, sch.name COLLATE DATABASE_DEFAULT AS TABLE_SCHEM, t.name COLLATE DATABASE_DEFAULT AS TABLE_NAME, CASE WHEN i.is_unique = 1 THEN 0 ELSE 1 END AS NON_UNIQUE, t.name AS INDEX_QUALIFIER, i.name AS INDEX_NAME, i.type AS TYPE, CAST(CASE WHEN i.type IN (5, 6) THEN ic.index_column_id ELSE ic.key_ordinal END AS SMALLINT) AS ORDINAL_POSITION, c.name AS COLUMN_NAME, CASE WHEN ic.is_descending_key = 1 THEN 'D' ELSE 'A' END AS ASC_OR_DESC, CASE WHEN i.index_id <= 1 THEN ps.row_count ELSE NULL END AS CARDINALITY, NULL AS PAGES, NULL AS FILTER_CONDITION FROM sys.indexes i INNER JOIN sys.index_columns ic ON i.object_id = ic.object_id AND i.index_id = ic.index_id INNER JOIN sys.columns c ON ic.object_id = c.object_id AND ic.column_id = c.column_id INNER JOIN sys.tables t ON i.object_id = t.object_id INNER JOIN sys.schemas sch ON t.schema_id = sch.schema_id LEFT JOIN sys.dm_db_partition_stats ps ON ps.object_id = i.object_id AND ps.index_id = i.index_id AND ps.index_id IN (0,1) WHERE t.name = ? AND sch.name = ? AND i.type IN (5, 6) ORDER BY NON_UNIQUE, TYPE, INDEX_NAME COLLATE DATABASE_DEFAULT, ORDINAL_POSITION
--- jdbc | special columns | StateService | none | SCOPE, COLUMN_NAME, DATA_TYPE, …
exec sp_special_columns_100 @table_name = N'Items', @table_owner = N'dbo', @qualifier = N'StateService', @col_type = N'R', @scope = N'T', @nullable = N'U', @ODBCVer = 3
--- jdbc | procedures | StateService | some | PROCEDURE_QUALIFIER, PROCEDURE_OWNER, PROCEDURE_NAME, …
exec sp_stored_procedures N'%', N'dbo', N'StateService'
--- jdbc | parameters of a procedure | StateService | some | PROCEDURE_QUALIFIER, PROCEDURE_OWNER, PROCEDURE_NAME, COLUMN_NAME, …
exec sp_sproc_columns_100 N'proc_AddItem', N'dbo', N'StateService', NULL, 3
--- jdbc | parameters in another database | master | some | PROCEDURE_QUALIFIER, …
exec StateService.sys.sp_sproc_columns_100 N'proc_AddItem', N'dbo', NULL, NULL, 3
--- jdbc | privileges | StateService | any | TABLE_QUALIFIER, …
exec sp_table_privileges N'Items', N'dbo', N'StateService'
--- jdbc | privileges of columns | StateService | any | TABLE_QUALIFIER, …
exec sp_column_privileges N'Items', N'dbo', N'StateService', N'%'
--- jdbc | most connections | StateService | some | maximum
select maximum from sys.configurations where name = 'user connections'
--- jdbc | user | StateService | some | 
SELECT SYSTEM_USER
--- jdbc | schema | StateService | some | 
SELECT SCHEMA_NAME()
--- jdbc | attributes: no rows | StateService | none | TYPE_CAT, TYPE_SCHEM, TYPE_NAME, SUPERTYPE_CAT
SELECT cast(NULL as char(1)) as TYPE_CAT, cast(NULL as char(1)) as TYPE_SCHEM, cast(NULL as char(1)) as TYPE_NAME, cast(NULL as char(1)) as SUPERTYPE_CAT where 0 = 1
--- jdbc | columns of a bulk load | StateService | some | collation_name, is_computed, encryption_type
select collation_name, is_computed, encryption_type from sys.columns where object_id=OBJECT_ID('dbo.Items') order by column_id ASC
--- jdbc | columns of a bulk load, formats only | StateService | none | Id, …
sp_executesql N'SET FMTONLY ON SELECT * FROM dbo.Items '
--- jdbc | parameters of a statement | StateService | some | parameter_ordinal, name, suggested_system_type_id, suggested_system_type_name, …
exec sp_describe_undeclared_parameters N'SELECT * FROM dbo.Items WHERE Id = @P0'
--- jdbc | columns of a statement | StateService | some | is_hidden, column_ordinal, name, is_nullable, system_type_id, system_type_name, …
exec sp_describe_first_result_set N'SELECT Id, Expires FROM dbo.Items WHERE Id = @P0', N'@P0 nvarchar(100)', 0
--- jdbc | collations of a table | StateService | some | colid, name, …
exec [StateService].sys.sp_tablecollations_100 N'dbo.Items'
--- jdbc | types of assemblies | StateService | none | max_length, precision, scale, is_nullable
--? 'geography'
select max_length, precision, scale, is_nullable from sys.assembly_types where name = ?
--- jdbc | compatibility of a database | StateService | some | name, compatibility_level
select name, compatibility_level from sys.databases where name = 'StateService'
--- jdbc | savepoint | StateService | none | 
IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN s1 IF @@TRANCOUNT > 0 ROLLBACK TRAN
--- jdbc | commit | StateService | none | 
IF @@TRANCOUNT > 0 COMMIT TRAN 

--: ---- SQLAlchemy

--- sqlalchemy | version | StateService | some | 
SELECT CAST(SERVERPROPERTY('ProductVersion') AS VARCHAR)
--- sqlalchemy | long texts | StateService | some | 
SELECT CAST('test max support' AS NVARCHAR(max))
--- sqlalchemy | which view tells the isolation level | StateService | some | name
SELECT name FROM sys.system_views WHERE name IN ('dm_exec_sessions', 'dm_pdw_nodes_exec_sessions')
--- sqlalchemy | isolation level | StateService | some | TRANSACTION_ISOLATION_LEVEL
SELECT CASE transaction_isolation_level WHEN 0 THEN NULL WHEN 1 THEN 'READ UNCOMMITTED' WHEN 2 THEN 'READ COMMITTED' WHEN 3 THEN 'REPEATABLE READ' WHEN 4 THEN 'SERIALIZABLE' WHEN 5 THEN 'SNAPSHOT' END AS TRANSACTION_ISOLATION_LEVEL FROM sys.dm_exec_sessions where session_id = @@SPID
--- sqlalchemy | comments | StateService | none | 
SELECT 1 FROM fn_listextendedproperty(default, default, default, default, default, default, default)
--- sqlalchemy | tables | StateService | none | TABLE_NAME
--? 'dbo', 'BASE TABLE'
SELECT [INFORMATION_SCHEMA].[TABLES].[TABLE_NAME] FROM [INFORMATION_SCHEMA].[TABLES] WHERE [INFORMATION_SCHEMA].[TABLES].[TABLE_SCHEMA] = CAST(? AS NVARCHAR(max)) AND [INFORMATION_SCHEMA].[TABLES].[TABLE_TYPE] = CAST(? AS NVARCHAR(max)) ORDER BY [INFORMATION_SCHEMA].[TABLES].[TABLE_NAME]
--- sqlalchemy | schemas | StateService | some | SCHEMA_NAME
SELECT [INFORMATION_SCHEMA].[SCHEMATA].[SCHEMA_NAME] FROM [INFORMATION_SCHEMA].[SCHEMATA] ORDER BY [INFORMATION_SCHEMA].[SCHEMATA].[SCHEMA_NAME]
--- sqlalchemy | columns, 1.4 | StateService | some | TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, …
--? 'Items', 'dbo'
SELECT [INFORMATION_SCHEMA].[COLUMNS].[TABLE_SCHEMA], [INFORMATION_SCHEMA].[COLUMNS].[TABLE_NAME], [INFORMATION_SCHEMA].[COLUMNS].[COLUMN_NAME], [INFORMATION_SCHEMA].[COLUMNS].[DATA_TYPE], [sys].[computed_columns].definition, [sys].[computed_columns].is_persisted, [sys].[identity_columns].is_identity, CAST([sys].[identity_columns].seed_value AS NUMERIC) AS seed_value, CAST([sys].[identity_columns].increment_value AS NUMERIC) AS increment_value FROM [INFORMATION_SCHEMA].[COLUMNS] LEFT OUTER JOIN [sys].[computed_columns] ON [sys].[computed_columns].object_id = object_id([INFORMATION_SCHEMA].[COLUMNS].[TABLE_SCHEMA] + N'.' + [INFORMATION_SCHEMA].[COLUMNS].[TABLE_NAME]) AND [sys].[computed_columns].name = [INFORMATION_SCHEMA].[COLUMNS].[COLUMN_NAME] COLLATE DATABASE_DEFAULT LEFT OUTER JOIN [sys].[identity_columns] ON [sys].[identity_columns].object_id = object_id([INFORMATION_SCHEMA].[COLUMNS].[TABLE_SCHEMA] + N'.' + [INFORMATION_SCHEMA].[COLUMNS].[TABLE_NAME]) AND [sys].[identity_columns].name = [INFORMATION_SCHEMA].[COLUMNS].[COLUMN_NAME] COLLATE DATABASE_DEFAULT WHERE [INFORMATION_SCHEMA].[COLUMNS].[TABLE_NAME] = CAST(? AS NVARCHAR(max)) AND [INFORMATION_SCHEMA].[COLUMNS].[TABLE_SCHEMA] = CAST(? AS NVARCHAR(max)) ORDER BY [INFORMATION_SCHEMA].[COLUMNS].[ORDINAL_POSITION]
--- sqlalchemy | columns, 2 | StateService | some | table_name, owner, column_name, type_name, base_type, …
SELECT sys.objects.name AS table_name, sys.schemas.name AS owner, sys.columns.name AS column_name, sys.types.name AS type_name, base_types.name AS base_type, sys.columns.is_nullable, sys.columns.max_length, sys.columns.precision, sys.columns.scale, sys.default_constraints.definition AS default_value, sys.columns.collation_name, sys.computed_columns.definition AS computed_definition, sys.computed_columns.is_persisted, sys.identity_columns.is_identity, CAST(sys.identity_columns.seed_value AS NUMERIC(38, 0)) AS seed_value, sys.extended_properties.value AS comment, sys.columns.column_id FROM sys.columns JOIN sys.objects ON sys.columns.object_id = sys.objects.object_id JOIN sys.schemas ON sys.objects.schema_id = sys.schemas.schema_id JOIN sys.types ON sys.columns.user_type_id = sys.types.user_type_id LEFT OUTER JOIN sys.types AS base_types ON sys.types.system_type_id = base_types.system_type_id AND base_types.user_type_id = base_types.system_type_id LEFT OUTER JOIN sys.default_constraints ON sys.default_constraints.object_id = sys.columns.default_object_id AND sys.default_constraints.parent_column_id = sys.columns.column_id LEFT OUTER JOIN sys.computed_columns ON sys.computed_columns.object_id = sys.columns.object_id AND sys.computed_columns.column_id = sys.columns.column_id LEFT OUTER JOIN sys.identity_columns ON sys.identity_columns.object_id = sys.columns.object_id AND sys.identity_columns.column_id = sys.columns.column_id LEFT OUTER JOIN sys.extended_properties ON sys.extended_properties.class = 1 AND sys.extended_properties.name = 'MS_Description' AND sys.columns.object_id = sys.extended_properties.major_id AND sys.columns.column_id = sys.extended_properties.minor_id WHERE sys.schemas.name = N'dbo' AND sys.objects.name IN (N'Items') ORDER BY sys.objects.name, sys.columns.column_id
--- sqlalchemy | primary key, 1.4 | StateService | none | COLUMN_NAME, CONSTRAINT_TYPE, CONSTRAINT_NAME
SELECT [C].[COLUMN_NAME], [INFORMATION_SCHEMA].[TABLE_CONSTRAINTS].[CONSTRAINT_TYPE], [C].[CONSTRAINT_NAME] FROM [INFORMATION_SCHEMA].[KEY_COLUMN_USAGE] AS [C], [INFORMATION_SCHEMA].[TABLE_CONSTRAINTS] WHERE [INFORMATION_SCHEMA].[TABLE_CONSTRAINTS].[CONSTRAINT_NAME] = [C].[CONSTRAINT_NAME] AND [INFORMATION_SCHEMA].[TABLE_CONSTRAINTS].[TABLE_SCHEMA] = [C].[TABLE_SCHEMA] AND [C].[TABLE_NAME] = N'Items' AND [C].[TABLE_SCHEMA] = N'dbo' ORDER BY [INFORMATION_SCHEMA].[TABLE_CONSTRAINTS].[CONSTRAINT_NAME], [C].[ORDINAL_POSITION]
--- sqlalchemy | indexes | StateService | none | index_id, is_unique, name, filter_definition
select ind.index_id, ind.is_unique, ind.name, ind.filter_definition from sys.indexes as ind join sys.tables as tab on ind.object_id=tab.object_id join sys.schemas as sch on sch.schema_id=tab.schema_id where tab.name = N'Items' and sch.name=N'dbo' and ind.is_primary_key=0 and ind.type != 0
--- sqlalchemy | columns of indexes | StateService | none | index_id, object_id, name, is_included_column
select ind_col.index_id, ind_col.object_id, col.name, ind_col.is_included_column from sys.columns as col join sys.tables as tab on tab.object_id=col.object_id join sys.index_columns as ind_col on (ind_col.column_id=col.column_id and ind_col.object_id=tab.object_id) join sys.schemas as sch on sch.schema_id=tab.schema_id where tab.name=N'Items' and sch.name=N'dbo'
--- sqlalchemy | foreign keys | StateService | none | constraint_schema, constraint_name, …
WITH fk_info AS (SELECT rc.constraint_schema, rc.constraint_name, kc.ordinal_position, kc.table_schema, kc.table_name, rc.unique_constraint_schema, rc.unique_constraint_name, rc.match_option, rc.update_rule, rc.delete_rule, kc.column_name AS constrained_column FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS rc INNER JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc ON kc.table_schema = rc.constraint_schema AND kc.constraint_name = rc.constraint_name WHERE kc.table_name = N'Items' AND kc.table_schema = N'dbo'), constraint_info AS (SELECT kc.constraint_schema, kc.constraint_name, kc.ordinal_position, kc.table_schema, kc.table_name, kc.column_name FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc) SELECT fk_info.constraint_schema, fk_info.constraint_name, fk_info.ordinal_position, fk_info.constrained_column, constraint_info.table_schema AS referred_table_schema, constraint_info.table_name AS referred_table_name FROM fk_info INNER JOIN constraint_info ON constraint_info.constraint_schema = fk_info.unique_constraint_schema AND constraint_info.constraint_name = fk_info.unique_constraint_name AND constraint_info.ordinal_position = fk_info.ordinal_position ORDER BY constraint_schema, constraint_name, ordinal_position
--- sqlalchemy | text of a view, 1.4 | StateService | some | definition
select definition from sys.sql_modules as mod, sys.views as views, sys.schemas as sch where mod.object_id=views.object_id and views.schema_id=sch.schema_id and views.name=N'Items' and sch.name=N'dbo'
--- sqlalchemy | text of a view, 2 | StateService | some | definition
select mod.definition from sys.sql_modules as mod join sys.views as views on mod.object_id = views.object_id join sys.schemas as sch on views.schema_id = sch.schema_id where views.name=N'Items' and sch.name=N'dbo'
--- sqlalchemy | sequences | StateService | none | SEQUENCE_NAME
SELECT [INFORMATION_SCHEMA].[SEQUENCES].[SEQUENCE_NAME] FROM [INFORMATION_SCHEMA].[SEQUENCES] WHERE [INFORMATION_SCHEMA].[SEQUENCES].[SEQUENCE_SCHEMA] = N'dbo'
--- sqlalchemy | comment of a table | StateService | some | table_name, comment
SELECT sys.objects.name AS table_name, sys.extended_properties.value AS comment FROM sys.objects JOIN sys.schemas ON sys.objects.schema_id = sys.schemas.schema_id LEFT OUTER JOIN sys.extended_properties ON sys.extended_properties.class = 1 AND sys.extended_properties.name = 'MS_Description' AND sys.extended_properties.major_id = sys.objects.object_id AND sys.extended_properties.minor_id = 0 WHERE sys.objects.type IN ('U', 'V') AND sys.schemas.name = N'dbo' AND sys.objects.name IN (N'Items')
--- sqlalchemy | a page | StateService | any | Id, …
SELECT [Items].[Id], [Items].[Expires] FROM [Items] ORDER BY [Items].[Id] OFFSET 0 ROWS FETCH FIRST 5 ROWS ONLY
--- sqlalchemy | a temporary table exists | StateService | some | 
SELECT object_id(N'tempdb.dbo.[#x]', 'U')

--: ---- others: Lazarus, QTDS, OLE DB, db-lib

--- lazarus | indexes of a table | StateService | none | name, is_unique, is_clustered
SELECT i.name, INDEXPROPERTY(i.id, i.name, 'IsUnique') AS is_unique, INDEXPROPERTY(i.id, i.name, 'IsClustered') AS is_clustered FROM sysindexes i WHERE i.id = OBJECT_ID('Items') AND i.indid BETWEEN 1 AND 254 AND INDEXPROPERTY(i.id, i.name, 'IsStatistics') = 0
--- lazarus | a property of an index | StateService | some | is_unique
SELECT INDEXPROPERTY(OBJECT_ID('Items'), 'PK_Items', 'IsUnique') AS is_unique
--- lazarus | version at connect | StateService | some | , 
select @@MICROSOFTVERSION / 0x01000000, DATABASEPROPERTYEX(db_name(), 'Collation')
--- lazarus | tables | StateService | some | TABLE_NAME
select name as TABLE_NAME from sysobjects where type in ('U','V') order by name
--- lazarus | columns | StateService | some | column_name
select c.name as column_name from syscolumns c join sysobjects o on c.id=o.id where c.id=object_id('Items') order by colid
--- lazarus | users | StateService | some | name
select u.name from sysusers u where u.issqlrole = 0
--- qtds | tables | StateService | some | name
select name from sysobjects where type = 'V'
--- qtds | columns of a table | StateService | some | name, type, type2, length, prec
select name, type, (select count(*) from systypes where usertype = 18) as type2, length, prec from syscolumns where id = (select id from sysobjects where name = 'Items')
--- oledb | rowsets | StateService | some | TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, TABLE_TYPE, …
exec sp_tables
--- oledb | index of a table | StateService | none | 
exec sp_helpindex N'dbo.Items'
--- oledb | help of the users | StateService | some | UserName, RoleName, LoginName, DefDBName, DefSchemaName, UserID, SID
exec sp_helpuser
--- oledb | configuration | master | some | name, minimum, maximum, config_value, run_value
exec sp_configure
--- oledb | sessions | master | some | SPID, Status, Login, HostName, BlkBy, DBName, Command, …
exec sp_who2
--- oledb | help of columns | StateService | some | Name, Owner, Object_type
exec sp_help

--: ---- Entity Framework's scaffolding, Prisma, Adminer, Power Query, and what migrations ask

--- ef | tables and views | StateService | some | schema, name, comment, type
SELECT SCHEMA_NAME(t.schema_id) AS [schema], t.name, CAST(e.value AS nvarchar(MAX)) AS comment, 'table' AS type FROM sys.tables AS t LEFT JOIN sys.extended_properties AS e ON e.major_id = t.object_id AND e.minor_id = 0 AND e.class = 1 AND e.name = 'MS_Description' WHERE t.is_ms_shipped = 0 AND NOT EXISTS (SELECT * FROM sys.extended_properties AS ep WHERE ep.major_id = t.object_id AND ep.minor_id = 0 AND ep.class = 1 AND ep.name = N'microsoft_database_tools_support') UNION SELECT SCHEMA_NAME(v.schema_id), v.name, NULL, 'view' FROM sys.views AS v WHERE v.is_ms_shipped = 0
--- ef | columns | StateService | some | table_schema, table_name, column_name, …
SELECT SCHEMA_NAME(o.schema_id) AS table_schema, o.name AS table_name, c.name AS column_name, c.column_id AS ordinal, SCHEMA_NAME(tp.schema_id) AS type_schema, tp.name AS type_name, CAST(c.max_length AS int) AS max_length, CAST(c.precision AS int) AS precision, CAST(c.scale AS int) AS scale, c.is_nullable, c.is_identity, dc.definition AS default_sql, cc.definition AS computed_sql, cc.is_persisted FROM (SELECT v.name, v.object_id, v.schema_id FROM sys.views v UNION ALL SELECT t.name, t.object_id, t.schema_id FROM sys.tables t) o JOIN sys.columns AS c ON o.object_id = c.object_id JOIN sys.types AS tp ON c.user_type_id = tp.user_type_id LEFT JOIN sys.computed_columns AS cc ON c.object_id = cc.object_id AND c.column_id = cc.column_id LEFT JOIN sys.default_constraints AS dc ON c.object_id = dc.parent_object_id AND c.column_id = dc.parent_column_id ORDER BY table_schema, table_name, c.column_id
--- ef | types | StateService | some | , name, name, , , 
SELECT SCHEMA_NAME(t.schema_id), t.name, t2.name, CAST(t.max_length AS int), CAST(t.precision AS int), CAST(t.scale AS int) FROM sys.types AS t JOIN sys.types AS t2 ON t.system_type_id = t2.user_type_id WHERE t.is_user_defined = 1 OR t.system_type_id <> t.user_type_id
--- ef | sequences | StateService | none | schema_name, name, type_name, …
SELECT OBJECT_SCHEMA_NAME(s.object_id) AS schema_name, s.name, TYPE_NAME(s.user_type_id) AS type_name, CAST(s.precision AS int) AS precision, CAST(s.start_value AS bigint) AS start_value, s.is_cycling FROM sys.sequences AS s
--- ef | its own table | StateService | some | x
IF OBJECT_ID(N'[__EFMigrationsHistory]') IS NULL SELECT 0 AS x ELSE SELECT 1 AS x
--- prisma | columns | StateService | some | column_name, data_type, character_maximum_length, column_default, …
SELECT c.name AS column_name, CASE typ.is_assembly_type WHEN 1 THEN TYPE_NAME(c.user_type_id) ELSE TYPE_NAME(c.system_type_id) END AS data_type, COLUMNPROPERTY(c.object_id, c.name, 'charmaxlen') AS character_maximum_length, OBJECT_DEFINITION(c.default_object_id) AS column_default, c.is_nullable, COLUMNPROPERTY(c.object_id, c.name, 'IsIdentity') AS is_identity, OBJECT_NAME(c.object_id) AS table_name, OBJECT_NAME(c.default_object_id) AS constraint_name, convert(tinyint, CASE WHEN c.system_type_id IN (48, 52, 56, 59, 60, 62, 106, 108, 122, 127) THEN c.precision END) AS numeric_precision FROM sys.columns c INNER JOIN sys.objects obj ON c.object_id = obj.object_id INNER JOIN sys.types typ ON c.user_type_id = typ.user_type_id WHERE OBJECT_SCHEMA_NAME(c.object_id) = 'dbo' ORDER BY COLUMNPROPERTY(c.object_id, c.name, 'ordinal')
--- prisma | procedures and views | StateService | some | name, body
SELECT name, OBJECT_DEFINITION(object_id) AS body FROM sys.objects WHERE SCHEMA_NAME(schema_id) = 'dbo' AND type IN ('P', 'V') ORDER BY name
--- adminer | what is in a schema | StateService | some | name, type_desc
SELECT name, type_desc FROM sys.all_objects WHERE schema_id = SCHEMA_ID('dbo') AND type IN ('S', 'U', 'V') ORDER BY name
--- adminer | columns | StateService | some | max_length, precision, name, is_nullable, type, default
SELECT c.max_length, c.precision, c.name, c.is_nullable, t.name type, d.definition [default] FROM sys.all_columns c JOIN sys.all_objects o ON c.object_id = o.object_id JOIN sys.types t ON c.user_type_id = t.user_type_id LEFT JOIN sys.default_constraints d ON c.default_object_id = d.object_id WHERE o.schema_id = SCHEMA_ID('dbo') AND o.type IN ('S','U','V') AND o.name = 'Items'
--- adminer | triggers | StateService | none | Trigger, Event, text
SELECT s.name [Trigger], CASE WHEN OBJECTPROPERTY(s.id, 'ExecIsInsertTrigger') = 1 THEN 'INSERT' WHEN OBJECTPROPERTY(s.id, 'ExecIsUpdateTrigger') = 1 THEN 'UPDATE' END [Event], c.text FROM sysobjects s JOIN syscomments c ON s.id = c.id WHERE s.xtype = 'TR'
--- routines | with parameters | StateService | some | ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, PARAMETER_NAME, …
SELECT r.ROUTINE_SCHEMA, r.ROUTINE_NAME, r.ROUTINE_TYPE, p.PARAMETER_NAME, p.DATA_TYPE, p.CHARACTER_MAXIMUM_LENGTH, p.PARAMETER_MODE FROM INFORMATION_SCHEMA.ROUTINES r LEFT JOIN INFORMATION_SCHEMA.PARAMETERS p ON p.SPECIFIC_NAME = r.SPECIFIC_NAME ORDER BY r.ROUTINE_NAME, p.ORDINAL_POSITION
--- powerquery | a page | StateService | any | Id, Bytes
select top 1000 [_].[Id], [_].[Bytes] from [dbo].[Items] as [_] order by [_].[Id]
--- powerquery | a group over a derived table | StateService | any | Id, n
select * from (select [rows].[Id] as [Id], count(distinct([rows].[Bytes])) + max(case when [rows].[Bytes] is null then 1 else 0 end) as [n] from (select [Id],[Bytes] from [dbo].[Items] as [$Table]) as [rows] group by [Id]) as [_]
--- flyway | its own table | StateService | some | 
SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'flyway_schema_history' AND TABLE_SCHEMA = SCHEMA_NAME()
--- session | where it stands | StateService | some | s, u, l, h, a, d, n, …
SELECT SCHEMA_NAME() AS s, USER_NAME() AS u, ORIGINAL_LOGIN() AS l, HOST_NAME() AS h, APP_NAME() AS a, DB_NAME() AS d, @@SERVERNAME AS n, @@LANGUAGE AS lang, @@DATEFIRST AS df, @@LOCK_TIMEOUT AS lt, @@OPTIONS & 512 AS nc
