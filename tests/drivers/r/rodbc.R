# RODBC over FreeTDS: rows at once and in portions, transactions, procedures, what it asks about tables.
suppressMessages(library(RODBC))

counter <- 0
key <- function(name) { counter <<- counter + 1; paste(name, Sys.getenv("PT_PREFIX"), "r", counter, sep = "-") }
expect <- function(ok, note) if (!isTRUE(ok)) stop(note, call. = FALSE)
open <- function() odbcDriverConnect(paste0(Sys.getenv("PT_ODBC"), ";UID=", Sys.getenv("PT_USER"), ";PWD=", Sys.getenv("PT_PASSWORD")))
query <- function(db, ...) {
    rows <- sqlQuery(db, sprintf(...), stringsAsFactors = FALSE)
    if (is.character(rows) && length(rows) > 0) stop(paste(rows, collapse = " "), call. = FALSE)
    rows
}
# FreeTDS says SQL_NO_DATA of what has neither rows nor a count, and RODBC takes that for an error: the status is selected.
add <- function(db, id) expect(query(db, "DECLARE @r int EXEC @r = proc_AddItem @id = '%s', @item = 0x616263, @timeout = 20 SELECT @r AS r", id)$r == 0, "status")
some <- function(db, n) { prefix <- key("page"); for (i in seq_len(n)) add(db, sprintf("%s-%d", prefix, 9 + i)); prefix }
ending <- function(ids) paste(substring(ids, nchar(ids) - 1), collapse = ",")
present <- function(db, id) query(db, "SELECT count(*) AS n FROM Items WHERE Id = '%s'", id)$n == 1

parts <- list(
    connect = function(db) expect(query(db, "SELECT DB_NAME() AS name")$name == "StateService" && odbcGetInfo(db)[["DBMS_Name"]] == "Microsoft SQL Server", "name"),
    pages = function(db) {
        from <- sprintf("FROM Items WHERE Id LIKE '%s%%%%'", some(db, 12))
        rows <- query(db, paste("SELECT Id, Bytes, Expires, LockTime", from, "ORDER BY Id"))
        expect(nrow(rows) == 12 && rows$Bytes[5] == 3 && is.na(rows$LockTime[1]) && rows$Expires[1] > Sys.time() - 3600, "all rows")
        expect(ending(query(db, paste("SELECT Id", from, "ORDER BY Id OFFSET 5 ROWS FETCH NEXT 2 ROWS ONLY"))$Id) == "15,16", "offset")
        expect(ending(query(db, paste("SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n", from, ") x WHERE n > 10"))$Id) == "20,21", "row_number")
        first <- sqlQuery(db, sprintf(paste("SELECT Id", from, "ORDER BY Id")), max = 5, stringsAsFactors = FALSE)
        rest <- sqlGetResults(db, stringsAsFactors = FALSE)
        expect(nrow(first) == 5 && nrow(rest) == 7 && ending(rest$Id[1]) == "15", "portions")
    },
    transactions = function(db) {
        a <- key("a"); b <- key("b")
        odbcSetAutoCommit(db, FALSE); add(db, a); expect(present(db, a), "not seen inside"); odbcEndTran(db, FALSE); expect(!present(db, a), "seen after rollback")
        add(db, b); odbcEndTran(db, TRUE); odbcSetAutoCommit(db, TRUE); expect(present(db, b), "not seen after commit")
    },
    procedures = function(db) {
        id <- key("p"); add(db, id)
        said <- sqlQuery(db, sprintf("EXEC proc_AddItem @id = '%s', @item = 0x61, @timeout = 20", id)); expect(any(grepl("2627", said)), paste(said, collapse = " "))
        row <- query(db, "DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithLock '%s', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT SELECT CONVERT(varchar(20), @i, 1) AS item, @c AS cookie", id)
        expect(row$item == 0x616263 && row$cookie == 2, paste("outputs:", paste(row, collapse = " ")))
    },
    metadata = function(db) {
        expect("Items" %in% sqlTables(db, tableType = "VIEW")$TABLE_NAME, "tables")
        columns <- sqlColumns(db, "Items"); expect(nrow(columns) == 7 && columns$TYPE_NAME[1] == "varchar" && columns$COLUMN_SIZE[1] == 512, "columns")
        prefix <- some(db, 3); expect(nrow(sqlFetch(db, "Items", max = 2)) == 2 && nrow(sqlFetchMore(db, max = 1)) == 1, "fetch")
        expect(nrow(sqlPrimaryKeys(db, "Items")) == 0, "keys"); expect("varbinary" %in% sqlTypeInfo(db)$TYPE_NAME, "types")
    }
)
for (part in names(parts)) {
    db <- open()
    note <- tryCatch({ parts[[part]](db); "" }, error = conditionMessage)
    odbcClose(db)
    cat(sprintf('{"feature": "%s", "ok": %s, "note": "%s"}\n', part, if (note == "") "true" else "false", gsub('[^ -!#-\\[\\]-~]', " ", note, perl = TRUE)))
}
