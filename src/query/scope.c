/* scope.c — FROM: which views and derived tables there are, and whose column a name means. */
#include "query/check.h"

#include <assert.h>
#include <stdio.h>

#define SOURCES_MAX 500 /* of a statement: WITH may name the same SELECT again and again */

struct str query_current_database(struct query_check *c)
{
	struct tsql_database db = { .name = "" };
	struct err ignored;

	if (!c->database_known && c->host->ops->database != NULL &&
	    c->host->ops->database(c->host, STR(""), &db, &ignored) < 0)
		db.name = "";
	if (!c->database_known)
		c->database = str_of(db.name);
	c->database_known = true;
	return c->database;
}

static bool is_system_schema(struct str schema)
{
	return str_eq_nocase(schema, STR("sys")) || str_eq_nocase(schema, STR("INFORMATION_SCHEMA"));
}

static const struct view *find_view(enum service service, const struct from_item *f)
{
	const struct view *v;

	if (f->schema.n > 0)
		return catalogue_find_view(service, f->schema, f->name);
	v = catalogue_find_view(service, STR("dbo"), f->name);
	if (v == NULL && f->name.n > 3 && str_eq_nocase((struct str){ f->name.p, 3 }, STR("sys")))
		/* sysobjects and its kin need no schema */
		v = catalogue_find_view(service, STR("sys"), f->name);
	return v;
}

static int no_object(struct query_check *c, const struct from_item *f)
{
	bool three = f->database.n > 0, two = f->schema.n > 0 || three;
	char shown[300];

	snprintf(shown, sizeof(shown), "%.*s%s%.*s%s%.*s", (int)(f->database.n < 129 ? f->database.n : 128),
		 f->database.p == NULL ? "" : f->database.p, three ? "." : "",
		 (int)(f->schema.n < 33 ? f->schema.n : 32), f->schema.p == NULL ? "" : f->schema.p,
		 two ? "." : "", (int)(f->name.n < 129 ? f->name.n : 128), f->name.p);
	err_set(c->ev->err, ERR_NO_OBJECT, shown);
	return query_fail(c, f->line);
}

/* The statement reads this database's own views. Two databases are two files, which one SELECT
 * cannot read together. */
static int reads_service(struct query_check *c, const struct from_item *f, const struct tsql_database *db,
			 const struct view *v)
{
	if (!db->may_select) {
		err_set(c->ev->err, ERR_SELECT_PERMISSION, v->name, db->name);
		return query_fail(c, f->line);
	}
	if (c->service.n > 0 && !str_eq_nocase(c->service, str_of(db->name))) {
		err_set(c->ev->err, ERR_NOT_SUPPORTED, "One SELECT over the views of two databases",
			"Use two SELECTs.");
		return query_fail(c, f->line);
	}
	c->service = str_of(db->name);
	c->sql = db->sql;
	return 0;
}

static int view_source(struct query_check *c, const struct from_item *f, struct query_source *src)
{
	struct tsql_database db = { .name = "", .service = SERVICE_SYSTEM, .may_select = true };
	const struct view *v;

	if (c->host->ops->database != NULL &&
	    c->host->ops->database(c->host, f->database, &db, c->ev->err) < 0)
		return c->ev->err->number == ERR_NO_OBJECT_NUMBER ? no_object(c, f) : query_fail(c, f->line);
	v = find_view(db.service, f);
	if (v == NULL || v->function != f->called)
		return no_object(c, f);
	src->view = v;
	if (query_view_rows(c, v, src) < 0)
		return query_fail(c, f->line);
	assert(src->derived == NULL);
	src->columns = v->columns;
	src->ncolumns = v->ncolumns;
	src->name = f->alias.n > 0 ? f->alias : f->name;
	if (v->per_database)
		src->database = value_text(TYPE_LEN(TYPE_NVARCHAR, 128), str_of(db.name));
	if (catalogue_find_view(SERVICE_SYSTEM, str_of(v->schema), str_of(v->name)) != v)
		return reads_service(c, f, &db, v);
	c->any_system = true;
	return 0;
}

/* SELECT from it may stand in any database's text: its rows come along. */
static int table_source(struct query_check *c, const struct from_item *f, struct query_source *src)
{
	src->table = f->table;
	src->given = c->ev->slots[f->var].table;
	src->columns = f->table->columns;
	src->ncolumns = f->table->n;
	src->name = f->alias.n > 0 ? f->alias : f->name;
	return 0;
}

/* WITH x (a, b) AS …: the names of its columns. */
static int rename_columns(struct query_check *c, const struct from_item *f, struct query_source *src)
{
	struct column *columns = arena_array(c->ev->arena, f->ncolumn_names, sizeof(*columns));

	if (columns == NULL)
		return err_nomem(c->ev->err);
	if (f->ncolumn_names != src->ncolumns) {
		bool more = src->ncolumns > f->ncolumn_names;

		err_raise(c->ev->err, more ? 8158 : 8159, 16, 1,
			  "'%.*s' has %s columns than were specified%s.", STR_ARG(f->alias),
			  more ? "more" : "fewer", more ? " in the column list" : " in the column list");
		return query_fail(c, f->line);
	}
	for (size_t i = 0; i < src->ncolumns; i++) {
		columns[i] = src->columns[i];
		columns[i].name = f->column_names[i];
	}
	src->columns = columns;
	return 0;
}

static int derived_source(struct query_check *c, const struct from_item *f, const struct query_scope *outer,
			  struct query_source *src)
{
	bool windows = c->windows_allowed;
	int rc = query_select(c, f->derived, f->is_with ? NULL : outer, -1, &src->derived);

	c->windows_allowed = windows;
	if (rc < 0)
		return -1;
	src->columns = src->derived->terms->columns;
	src->ncolumns = src->derived->terms->n;
	src->name = f->alias;
	return f->ncolumn_names > 0 ? rename_columns(c, f, src) : 0;
}

static int one_source(struct query_check *c, const struct from_item *f, const struct query_scope *outer,
		      struct query_source *src)
{
	if (c->sources == SOURCES_MAX)
		return query_refuse(c, f->line, "A SELECT that reads more than 500 sources");
	src->join = f->join;
	src->id = ++c->sources;
	if (f->table != NULL)
		return table_source(c, f, src);
	return f->derived != NULL ? derived_source(c, f, outer, src) : view_source(c, f, src);
}

int query_sources(struct query_check *c, const struct select *s, const struct query_scope *outer,
		  struct query_term *term, struct query_scope *ret)
{
	*ret = (struct query_scope){ .outer = outer };
	term->sources = arena_array(c->ev->arena, s->nfrom, sizeof(*term->sources));
	if (term->sources == NULL)
		return err_nomem(c->ev->err);
	for (size_t i = 0; i < s->nfrom; i++) {
		if (one_source(c, &s->from[i], outer, &term->sources[i]) < 0)
			return -1;
	}
	assert(c->sources <= SOURCES_MAX);
	term->nsources = s->nfrom;
	ret->sources = term->sources;
	ret->nsources = term->nsources;
	for (size_t i = 0; i < s->nfrom; i++) {
		if (s->from[i].on != NULL && query_condition(c, ret, s->from[i].on, &term->sources[i].on) < 0)
			return -1;
	}
	return 0;
}

/* May an outer join put NULLs in the place of this source's columns? */
static bool may_be_absent(const struct query_scope *sc, const struct query_source *src)
{
	if (src->join == JOIN_LEFT || src->join == JOIN_FULL)
		return true;
	for (; sc != NULL; sc = sc->outer) {
		if (src < sc->sources || src >= sc->sources + sc->nsources)
			continue;
		for (const struct query_source *later = src + 1; later < sc->sources + sc->nsources;
		     later++) {
			if (later->join == JOIN_RIGHT || later->join == JOIN_FULL)
				return true;
		}
	}
	return false;
}

/* Innermost first: 1 found, 0 not, -1 ambiguous. Given up: 0, and every later step says so. */
static int resolve(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		   const struct query_source **ret_src, size_t *ret_column)
{
	for (; sc != NULL; sc = sc->outer) {
		int found = 0;

		for (size_t i = 0; i < sc->nsources; i++) {
			const struct query_source *src = &sc->sources[i];

			if (e->table.n > 0 && !str_eq_nocase(src->name, e->table))
				continue;
			if (tsql_eval_spend(c->ev, 4 * src->ncolumns) < 0)
				return 0;
			for (size_t k = 0; k < src->ncolumns; k++) {
				if (!str_eq_nocase(str_of(src->columns[k].name), e->name))
					continue;
				*ret_src = src;
				*ret_column = k;
				found++;
			}
		}
		if (found > 0)
			return found == 1 ? 1 : -1;
	}
	return 0;
}

const struct query_node *query_source_column(struct query_check *c, const struct query_scope *sc,
					     const struct query_source *src, size_t column)
{
	struct query_node *n = query_node_new(c, NODE_COLUMN, 0);

	if (n == NULL)
		return NULL;
	assert(column < src->ncolumns &&
	       (src->view != NULL) + (src->derived != NULL) + (src->table != NULL) == 1);
	n->source = src;
	n->column = column;
	n->type = src->columns[column].type;
	n->nullable = src->columns[column].nullable || may_be_absent(sc, src);
	if (!query_is_text(n))
		n->order = ORDER_PLAIN;
	else if (src->derived != NULL)
		n->order = src->derived->terms->items[column]->order;
	else if (src->table != NULL)
		n->order = ORDER_NAMES; /* what the catalogue tells */
	else
		n->order = is_system_schema(str_of(src->view->schema)) ? ORDER_NAMES : ORDER_EXACT;
	return n;
}

int query_column(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		 const struct query_node **ret)
{
	const struct query_source *src;
	char shown[129];
	size_t k;
	int rc = resolve(c, sc, e, &src, &k);

	if (rc <= 0) {
		str_copy(shown, sizeof(shown), e->name);
		if (rc < 0)
			err_raise(c->ev->err, 209, 16, 1, "Ambiguous column name '%s'.", shown);
		else if (e->table.n > 0)
			err_raise(c->ev->err, 4104, 16, 1,
				  "The multi-part identifier \"%.*s.%s\" could not be bound.",
				  STR_ARG(e->table), shown);
		else
			err_set(c->ev->err, ERR_NO_COLUMN, shown);
		return query_fail(c, e->line);
	}
	*ret = query_source_column(c, sc, src, k);
	return *ret == NULL ? -1 : 0;
}

bool query_same_column(struct query_check *c, const struct query_scope *sc, const struct expr *a,
		       const struct expr *b)
{
	const struct query_source *sa, *sb;
	size_t ca, cb;

	return resolve(c, sc, a, &sa, &ca) > 0 && resolve(c, sc, b, &sb, &cb) > 0 && sa == sb && ca == cb;
}
