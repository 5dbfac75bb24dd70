"""Which drivers and which features: the table behind the driver tests and docs/drivers.md."""

FEATURES = {
    "connect": "connects without TLS",
    "tls": "connects with TLS",
    "wrong_password": "wrong password: 18456",
    "missing_database": "missing database: 4060",
    "rpc_output": "RPC, output parameters",
    "rpc_results": "RPC, result sets",
    "batch": "the same by batch",
    "prepared": "prepared execution",
    "values": "NULL, Unicode, large values",
    "status": "return status",
    "errors": "error numbers",
    "transactions": "transactions",
    "cancel": "cancel",
    "pool_reset": "pool reset",
    "metadata": "procedure metadata",
}

NO_RPC = "sends language batches only"
NO_POOL = "has no pool that resets connections"

# name: (title, package, what it cannot do and why, notes)
DRIVERS = {
    "tsql": ("FreeTDS tsql", "freetds-bin", {
        "rpc_output": NO_RPC, "rpc_results": NO_RPC, "prepared": NO_RPC, "cancel": "has no way to cancel", "pool_reset": NO_POOL,
        "metadata": "has no call for it"}, "TDS 7.1, 7.2, 7.3 and 7.4."),
    "bsqldb": ("FreeTDS bsqldb", "freetds-bin", {
        "rpc_output": NO_RPC, "rpc_results": NO_RPC, "prepared": NO_RPC, "cancel": "has no way to cancel", "pool_reset": NO_POOL,
        "metadata": "has no call for it", "status": "does not show the return status"},
        "TDS 7.1, 7.2, 7.3 and 7.4. Error numbers are shown in its messages."),
    "dblib": ("DB-Library in C", "freetds-dev", {
        "prepared": "has no prepared statements", "pool_reset": NO_POOL, "metadata": "has no call for it besides sp_sproc_columns"},
        "FreeTDS' libsybdb."),
    "ctlib": ("CT-Library in C", "freetds-dev", {
        "pool_reset": NO_POOL, "metadata": "has no call for it besides sp_sproc_columns"},
        "FreeTDS' libct."),
    "odbc": ("ODBC in C", "tdsodbc", {"pool_reset": "the FreeTDS driver does not reset pooled connections"}, "unixODBC with FreeTDS' driver."),
    "pyodbc": ("pyodbc", "python3-pyodbc", {
        "rpc_output": "pyodbc has no output parameters: a batch with DECLARE and SELECT is used",
        "pool_reset": "the FreeTDS driver does not reset pooled connections"}, "Over FreeTDS' ODBC driver, which fails by itself on {call} with values of more than 8000 bytes sent in pieces: use exec."),
    "pymssql": ("pymssql", "python3-pymssql", {
        "prepared": "writes the values into the text", "pool_reset": NO_POOL, "metadata": "has no call for it"},
        "Crashes by itself on a NULL int or bit output and shows no result set without rows after an RPC (pymssql 2.2.2)."),
    "pytds": ("python-tds", "python3-tds", {
        "metadata": "has no call for it"}, "TDS 7.1, 7.2, 7.3 and 7.4. TLS through pyOpenSSL."),
    "dbd_sybase": ("Perl DBD::Sybase", "libdbd-sybase-perl", {
        "missing_database": "logs in without a database and sends USE: error 911 instead",
        "pool_reset": NO_POOL, "metadata": "has no call for it"},
        "TDS 7.1: from 7.2 on it allocates 2 GB for each max column. AutoCommit => 0 in connect begins nothing, begin_work ends with a COMMIT too many (error 3902): set AutoCommit after connecting."),
    "pdo_dblib": ("PHP PDO dblib", "php8.2-sybase", {
        "rpc_output": NO_RPC, "rpc_results": NO_RPC, "cancel": "has no way to cancel", "pool_reset": NO_POOL, "metadata": "has no call for it",
        "status": "does not show the return status: a batch with DECLARE and SELECT is used"},
        "Prepared statements are written into the text by the driver."),
    "jtds": ("Java jTDS", "libjtds-java", {
        "pool_reset": NO_POOL}, "ssl=off, request and require. ssl=request works because answers to a login-only handshake are held back for a moment."),
    "sqlclient": (".NET System.Data.SqlClient", "mono-runtime", {},
                  "On Mono. A command time-out closes the connection by itself."),
    "go": ("go-mssqldb", "golang-github-denisenkom-go-mssqldb-dev", {
        "rpc_output": "this version has no output parameters: a batch with DECLARE and SELECT is used",
        "rpc_results": "this version calls no procedure by name",
        "status": "does not show the return status: a batch with DECLARE and SELECT is used",
        "pool_reset": "this version does not reset pooled connections",
        "metadata": "has no call for it"}, "Debian's package, of 2017. With Go 1.19 it panics when it closes a TLS connection."),
    "tedious": ("Node tedious", "npm:tedious", {"metadata": "has no call for it"},
                "encrypt false, true and strict (TDS 8.0 with the server's own certificate as CA)."),
    "mssql": ("Node mssql", "npm:mssql", {
        "pool_reset": "its pool does not reset connections", "metadata": "has no call for it"}, "Over tedious."),
}

LAST_ERROR = "shows the last error only, 18456"

# What works only in part, because of the driver: the test passes and says exactly this.
PARTLY = {
    "ctlib": {"missing_database": "names no database when it logs in: USE of a missing one gives 911"},
    "pyodbc": {"missing_database": LAST_ERROR},
    "pymssql": {"missing_database": LAST_ERROR, "cancel": "rows left unread are cancelled; a time-out ends the connection"},
    "dbd_sybase": {"cancel": "rows left unread are cancelled; it cannot interrupt a call that waits"},
    "pdo_dblib": {"wrong_password": "shows no server message when a login fails, only “connection failed”",
                  "missing_database": "shows no server message when a login fails, only “connection failed”"},
    "sqlclient": {"cancel": "rows left unread are cancelled; on Mono the attention leaves only when the answer has begun"},
    "go": {"missing_database": LAST_ERROR},
    "tedious": {"missing_database": LAST_ERROR, "rpc_output": "from TDS 7.2 on: 7.1 has no outputs above 8000 bytes, which is what it declares"},
    "mssql": {"missing_database": LAST_ERROR},
}

# Drivers that people use and that cannot be tested here, with the reason.
ABSENT = {
    "Microsoft ODBC Driver for SQL Server (msodbcsql), sqlcmd, bcp": "closed source, not in Debian; FreeTDS' ODBC driver stands for ODBC",
    "Microsoft JDBC Driver (mssql-jdbc)": "not in Debian 12; jTDS stands for JDBC",
    "Microsoft.Data.SqlClient on .NET": "neither .NET nor the package is in Debian 12; Mono's System.Data.SqlClient has the same code base",
    "current go-mssqldb (microsoft/go-mssqldb)": "Debian has the version of 2017 only",
    "tiberius (Rust), r2dbc-mssql (Java)": "not in Debian 12",
}


def features_of(driver):
    """The features that the driver can have."""
    return [f for f in FEATURES if f not in DRIVERS[driver][2]]
