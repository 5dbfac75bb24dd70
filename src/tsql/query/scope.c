/* scope.c — FROM: which views and derived tables there are, and whose column a name means. */
#include "tsql/query/translate.h"

struct str query_current_database(struct query_translation *t)
{
	struct value v;
	struct str s = { "", 0 };

	if (t->host->ops->value == NULL ||
	    t->host->ops->value(t->host, "DB_NAME", NULL, 0, t->ev->arena, &v, NULL) <= 0 || v.null ||
	    !type_info(v.type.id)->is_text)
		return s;
	return v.u.s;
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
		v = catalogue_find_view(service, STR("sys"),
					f->name); /* sysobjects and its kin need no schema */
	return v;
}

static int no_object(struct query_translation *t, const struct from_item *f)
{
	char shown[300];
	struct str full = query_sql(t, "%.*s%s%.*s%s%.*s", STR_ARG(f->database), f->database.n > 0 ? "." : "",
				    STR_ARG(f->schema), f->schema.n > 0 || f->database.n > 0 ? "." : "",
				    STR_ARG(f->name));

	str_copy(shown, sizeof(shown), full);
	err_set(t->ev->err, ERR_NO_OBJECT, shown);
	return query_fail(t, f->line);
}

static int view_source(struct query_translation *t, const struct from_item *f, struct source *src)
{
	enum service service = t->host->ops->service != NULL ? t->host->ops->service(t->host)
							     : SERVICE_SYSTEM;
	struct str database = query_current_database(t);
	const struct view *v;
	bool system;

	if (f->database.n > 0 && !str_eq_nocase(f->database, database)) {
		if (!str_eq_nocase(f->database, STR("master")))
			return no_object(t, f);
		database = STR("master");
		service = SERVICE_SYSTEM;
	}
	v = find_view(service, f);
	if (v == NULL)
		return no_object(t, f);
	system = catalogue_find_view(SERVICE_SYSTEM, str_of(v->schema), str_of(v->name)) == v;
	src->columns = v->columns;
	src->ncolumns = v->ncolumns;
	src->nocase = is_system_schema(str_of(v->schema));
	src->name = f->alias.n > 0 ? f->alias : f->name;
	t->any_system = t->any_system || system;
	t->any_service = t->any_service || !system;
	if (!system && t->host->ops->may_select != NULL && !t->host->ops->may_select(t->host)) {
		char shown[129];

		str_copy(shown, sizeof(shown), database);
		err_set(t->ev->err, ERR_SELECT_PERMISSION, v->name, shown);
		return query_fail(t, f->line);
	}
	src->sql = query_quoted(t, v->store_name);
	if (v->per_database) {
		struct value name = value_text(TYPE_LEN(TYPE_NVARCHAR, 128), database);
		struct str mark;

		if (query_bind(t, &name, &mark) < 0)
			return -1;
		src->sql = query_sql(t, "(SELECT * FROM %.*s WHERE \"database_name\" = %.*s COLLATE NOCASE)",
				     STR_ARG(src->sql), STR_ARG(mark));
	}
	return src->sql.n == 0 ? -1 : 0;
}

static int derived_source(struct query_translation *t, const struct from_item *f, const struct scope *outer,
			  struct source *src)
{
	struct column *columns;
	struct str sql;

	if (query_select(t, f->derived, outer, true, &sql, &columns, &src->ncolumns) < 0)
		return -1;
	src->columns = columns;
	src->derived = true;
	src->name = f->alias;
	src->sql = query_sql(t, "(%.*s)", STR_ARG(sql));
	return src->sql.n == 0 ? -1 : 0;
}

int query_sources(struct query_translation *t, const struct select *s, const struct scope *outer,
		  struct scope *ret)
{
	*ret = (struct scope){ .outer = outer };
	ret->sources = arena_array(t->ev->arena, s->nfrom, sizeof(*ret->sources));
	if (ret->sources == NULL)
		return err_nomem(t->ev->err);
	for (size_t i = 0; i < s->nfrom; i++) {
		const struct from_item *f = &s->from[i];
		struct source *src = &ret->sources[i];

		src->item = f;
		src->id = ++t->next_id;
		if ((f->derived != NULL ? derived_source(t, f, outer, src) : view_source(t, f, src)) < 0)
			return -1;
		ret->nsources = i + 1;
	}
	return 0;
}

struct str query_column_sql(struct query_translation *t, const struct source *src, size_t column)
{
	struct str name;

	if (src->derived)
		return query_sql(t, "t%u.c%zu", src->id, column);
	name = query_quoted(t, src->columns[column].name);
	return name.n == 0 ? name : query_sql(t, "t%u.%.*s", src->id, STR_ARG(name));
}

bool query_may_be_absent(const struct scope *sc, const struct source *src)
{
	if (src->item->join == JOIN_LEFT || src->item->join == JOIN_FULL)
		return true;
	for (; sc != NULL; sc = sc->outer) {
		if (src < sc->sources || src >= sc->sources + sc->nsources)
			continue;
		for (const struct source *later = src + 1; later < sc->sources + sc->nsources; later++) {
			if (later->item->join == JOIN_RIGHT || later->item->join == JOIN_FULL)
				return true;
		}
	}
	return false;
}

/* Innermost first: 1 found, 0 not, -1 ambiguous. Given up: 0, and every later step says so. */
static int resolve(struct query_translation *t, const struct scope *sc, const struct expr *e,
		   const struct source **ret_src, size_t *ret_column)
{
	for (; sc != NULL; sc = sc->outer) {
		int found = 0;

		for (size_t i = 0; i < sc->nsources; i++) {
			const struct source *src = &sc->sources[i];

			if (e->table.n > 0 && !str_eq_nocase(src->name, e->table))
				continue;
			if (eval_spend(t->ev, 4 * src->ncolumns) < 0)
				return 0;
			for (size_t c = 0; c < src->ncolumns; c++) {
				if (!str_eq_nocase(str_of(src->columns[c].name), e->name))
					continue;
				*ret_src = src;
				*ret_column = c;
				found++;
			}
		}
		if (found > 0)
			return found == 1 ? 1 : -1;
	}
	return 0;
}

int query_column(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	const struct source *src;
	char shown[129];
	size_t c;
	int rc = resolve(t, sc, e, &src, &c);

	if (rc <= 0) {
		str_copy(shown, sizeof(shown), e->name);
		if (rc < 0)
			err_raise(t->ev->err, 209, 16, 1, "Ambiguous column name '%s'.", shown);
		else if (e->table.n > 0)
			err_raise(t->ev->err, 4104, 16, 1,
				  "The multi-part identifier \"%.*s.%s\" could not be bound.",
				  STR_ARG(e->table), shown);
		else
			err_set(t->ev->err, ERR_NO_COLUMN, shown);
		return query_fail(t, e->line);
	}
	*ret = (struct piece){ .type = src->columns[c].type,
			       .nullable = src->columns[c].nullable || query_may_be_absent(sc, src) };
	ret->nocase = src->nocase && type_info(ret->type.id)->is_text;
	ret->sql = query_column_sql(t, src, c);
	return ret->sql.n == 0 ? -1 : 0;
}

bool query_same_column(struct query_translation *t, const struct scope *sc, const struct expr *a,
		       const struct expr *b)
{
	const struct source *sa, *sb;
	size_t ca, cb;

	return resolve(t, sc, a, &sa, &ca) > 0 && resolve(t, sc, b, &sb, &cb) > 0 && sa == sb && ca == cb;
}
