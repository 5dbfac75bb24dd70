-- The system store: logins, databases, permissions, and the catalogue described as rows (filled by the generator's metadata
-- script whenever the declarations have changed). Times are datetime ticks (1/300 s since 1900-01-01 UTC).

-- ERROR 2627 login.name 'A login of this name exists already. Choose another name, or change its password: procession login passwd (procession_login_passwd).'
-- ERROR 2627 database.name 'A database of this name exists already. Choose another name.'
-- ERROR 547 FOREIGN KEY 'The login does not exist. procession login list (procession_login_list) shows the logins there are.'

-- MIGRATION 1
CREATE TABLE login (
    name                TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
    password_hash       TEXT NOT NULL,                  -- PHC string; never leaves the server
    admin               INTEGER NOT NULL DEFAULT 0,
    disabled            INTEGER NOT NULL DEFAULT 0,
    default_database    TEXT COLLATE NOCASE,            -- NULL: master
    created             INTEGER NOT NULL DEFAULT 0,
    changed             INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE database (
    id                  INTEGER PRIMARY KEY,            -- master 1; those of the services from 5, as SQL Server numbers its own
    name                TEXT NOT NULL COLLATE NOCASE UNIQUE,
    service             TEXT NOT NULL,                  -- system, word, translation, schedule, state
    file                TEXT NOT NULL,                  -- in the data folder
    errata              TEXT NOT NULL DEFAULT 'corrected' CHECK (errata IN ('corrected', 'literal')),
    created             INTEGER NOT NULL DEFAULT 0
);
INSERT INTO database (id, name, service, file) VALUES (1, 'master', 'system', 'system.db');
CREATE TABLE permission (
    login               TEXT NOT NULL COLLATE NOCASE REFERENCES login (name) ON DELETE CASCADE,
    database            TEXT NOT NULL COLLATE NOCASE,
    rights              INTEGER NOT NULL,               -- 1 execute, 2 select
    PRIMARY KEY (login, database)
);

CREATE TABLE meta_hash (hash TEXT NOT NULL);
CREATE TABLE meta_shape (                               -- every distinct type that a parameter or column has
    shape               INTEGER PRIMARY KEY,
    declared            TEXT NOT NULL,                  -- "nvarchar(128)"
    type_name           TEXT NOT NULL,
    system_type_id      INTEGER NOT NULL,
    max_length          INTEGER NOT NULL,               -- bytes; -1: (max)
    precision           INTEGER NOT NULL,
    scale               INTEGER NOT NULL,
    char_length         INTEGER,                        -- characters or bytes of sized types; -1: (max)
    odbc_type           INTEGER NOT NULL,
    odbc2_type          INTEGER NOT NULL,
    odbc_precision      INTEGER,
    odbc_length         INTEGER,
    odbc_scale          INTEGER,
    radix               INTEGER,
    sql_data_type       INTEGER NOT NULL,
    datetime_sub        INTEGER,
    octet_length        INTEGER,
    ss_data_type        INTEGER NOT NULL,
    sqldbtype           INTEGER NOT NULL,
    old_type_name       TEXT NOT NULL,                  -- old_*: as clients from before the (max) and date types are told
    old_odbc_type       INTEGER NOT NULL,
    old_precision       INTEGER,
    old_length          INTEGER,
    old_octet_length    INTEGER,
    numeric_precision   INTEGER,
    numeric_scale       INTEGER,
    datetime_precision  INTEGER,
    is_text             INTEGER NOT NULL
);
CREATE TABLE meta_type (                                -- sp_datatype_info and sys.types
    name                TEXT NOT NULL PRIMARY KEY,
    odbc_type           INTEGER NOT NULL,
    odbc2_type          INTEGER NOT NULL,
    precision           INTEGER NOT NULL,
    literal_prefix      TEXT,
    literal_suffix      TEXT,
    create_params       TEXT,
    case_sensitive      INTEGER NOT NULL,
    searchable          INTEGER NOT NULL,
    unsigned_attribute  INTEGER,
    money               INTEGER NOT NULL,
    auto_increment      INTEGER,
    minimum_scale       INTEGER,
    maximum_scale       INTEGER,
    sql_data_type       INTEGER NOT NULL,
    datetime_sub        INTEGER,
    radix               INTEGER,
    usertype            INTEGER NOT NULL,
    system_type_id      INTEGER NOT NULL,
    user_type_id        INTEGER NOT NULL,
    max_length          INTEGER NOT NULL,
    sys_precision       INTEGER NOT NULL,
    sys_scale           INTEGER NOT NULL,
    old_odbc_type       INTEGER NOT NULL
);
CREATE TABLE meta_procedure (
    object_id           INTEGER PRIMARY KEY,
    service             TEXT NOT NULL,
    schema_name         TEXT NOT NULL COLLATE NOCASE,
    name                TEXT NOT NULL COLLATE NOCASE,
    section             TEXT NOT NULL,
    summary             TEXT NOT NULL,
    source              TEXT NOT NULL,
    nparams             INTEGER NOT NULL,
    noutputs            INTEGER NOT NULL,
    nresults            INTEGER NOT NULL,
    read_only           INTEGER NOT NULL,
    UNIQUE (service, name)
);
CREATE TABLE meta_parameter (
    object_id           INTEGER NOT NULL,
    parameter_id        INTEGER NOT NULL,
    name                TEXT NOT NULL COLLATE NOCASE,   -- with @
    shape               INTEGER NOT NULL,
    is_output           INTEGER NOT NULL,
    has_default         INTEGER NOT NULL,
    default_text        TEXT,
    nullable            INTEGER NOT NULL,
    PRIMARY KEY (object_id, parameter_id)
);
CREATE TABLE meta_result_column (
    object_id           INTEGER NOT NULL,
    result_set          INTEGER NOT NULL,
    column_id           INTEGER NOT NULL,
    name                TEXT NOT NULL,
    shape               INTEGER NOT NULL,
    nullable            INTEGER NOT NULL,
    PRIMARY KEY (object_id, result_set, column_id)
);
CREATE TABLE meta_view (
    object_id           INTEGER PRIMARY KEY,
    service             TEXT NOT NULL,
    schema_name         TEXT NOT NULL COLLATE NOCASE,
    name                TEXT NOT NULL COLLATE NOCASE,
    summary             TEXT NOT NULL,
    definition          TEXT NOT NULL,
    UNIQUE (service, schema_name, name)
);
CREATE TABLE meta_view_column (
    object_id           INTEGER NOT NULL,
    column_id           INTEGER NOT NULL,
    name                TEXT NOT NULL COLLATE NOCASE,
    shape               INTEGER NOT NULL,
    nullable            INTEGER NOT NULL,
    PRIMARY KEY (object_id, column_id)
);
-- What can be called and read from where: a database's own, and the system's from every database.
CREATE VIEW callable AS
SELECT d.name AS database_name, d.created AS created, p.*
FROM database d JOIN meta_procedure p ON p.service = d.service OR p.service = 'system';
CREATE VIEW viewable AS
SELECT d.name AS database_name, d.created AS created, v.*
FROM database d JOIN meta_view v ON v.service = d.service OR v.service = 'system';
-- The parameters of a procedure with its return value before them, as drivers want to see them.
CREATE VIEW signature AS
SELECT p.object_id AS object_id, 0 AS parameter_id, '@RETURN_VALUE' AS name, s.shape AS shape, 1 AS is_output, 0 AS has_default, NULL AS default_text,
       0 AS nullable
FROM meta_procedure p JOIN meta_shape s ON s.declared = 'int'
UNION ALL
SELECT object_id, parameter_id, name, shape, is_output, has_default, default_text, 1 FROM meta_parameter;

-- MIGRATION 2
-- What SUSER_ID and SUSER_SID give. The numbers begin above those of SQL Server's fixed roles (16384 …), so that users and roles are told apart.
ALTER TABLE login ADD COLUMN id INTEGER;
ALTER TABLE login ADD COLUMN sid BLOB;
UPDATE login SET id = CASE WHEN name = 'sa' THEN 1 ELSE 20000 + rowid END, sid = CASE WHEN name = 'sa' THEN x'01' ELSE randomblob(16) END;
CREATE UNIQUE INDEX login_id ON login (id);
CREATE UNIQUE INDEX login_sid ON login (sid);

-- MIGRATION 3
ALTER TABLE database ADD COLUMN commit_mode TEXT NOT NULL DEFAULT 'durable' CHECK (commit_mode IN ('durable', 'relaxed'));
ALTER TABLE database ADD COLUMN commit_interval INTEGER NOT NULL DEFAULT 1000;      -- ms between flushes of a relaxed one

-- MIGRATION 4
ALTER TABLE database ADD COLUMN identity TEXT;          -- of its file, 32 hexadecimal digits; NULL: not seen yet
ALTER TABLE database ADD COLUMN damage TEXT;            -- why it was not served at the last start; NULL: it was

-- MIGRATION 5
ALTER TABLE database ADD COLUMN renewal_slack INTEGER NOT NULL DEFAULT 0;           -- seconds that a renewal stores ahead

-- MIGRATION 6
-- Of databases that were moved from one engine to the other.
ALTER TABLE database ADD COLUMN engine TEXT;            -- that it is in; NULL: the one of this system database
ALTER TABLE database ADD COLUMN server TEXT;            -- in whose data folder it, or its rest, is; NULL: it was never moved
ALTER TABLE database ADD COLUMN rest TEXT;              -- its place in the engine in which it is not (any more, or yet), to be discarded; NULL: none
