/* query.h — SELECT … FROM over the readable views, in the SQL of an engine. tsql parses it, query
 * checks and writes it, the engine runs it where nothing can be changed. */
#ifndef CATALOGUE_QUERY_H
#define CATALOGUE_QUERY_H

#include "call/sink.h"

/* In which SQL a query is written: that of the engine which runs it. */
enum query_sql { QUERY_SQLITE, QUERY_POSTGRES };

/* A view (or system table) that SELECT can name; declared in procedures/<service>/views.sql,
 * generated. */
struct view {
	const char *schema;     /* "dbo", "sys", "INFORMATION_SCHEMA" */
	const char *name;       /* "Items", "procedures" */
	const char *store_name; /* "view_items", "sys_procedures"; NULL: it is not in the store */
	const char *definition; /* what it is declared as: OBJECT_DEFINITION */
	/* This text stands in the place of a view that is not in the store; $rows in it are those
	 * that the session makes under the name rows, one text */
	const char *inline_sql, *rows;
	const char *postgres_sql; /* the same text in PostgreSQL's SQL */
	/* system table that shows only the session's database: store column "database_name" is
	 * filtered */
	bool per_database;
	/* who is not an administrator sees the rows whose store column "login_name" is NULL or
	 * his */
	bool per_login;
	bool function; /* stands in FROM with arguments, which pass unread */
	const struct column *columns;
	uint16_t ncolumns;
	int32_t object_id; /* as sys.objects shows it */
};

/* A translated SELECT: lives in the request's arena. */
struct query {
	const char *sql;        /* the store's SQL, ?1 … are the values */
	enum query_sql dialect; /* which that is */
	const struct value *values;
	size_t nvalues;
	const struct column *columns;
	size_t ncolumns;
	bool system;          /* runs in the system store */
	const char *database; /* else in this one */
	bool assign;          /* SELECT @v = col …: rows go to variables, not to the client */
};

#endif
