/* natives.c — see natives.h. They run on threads of the engine, inside the call's transaction. */
#include "daemon/natives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auth/auth.h"
#include "catalogue/catalogue.h"
#include "catalogue/native.h"
#include "daemon/backup.h"
#include "daemon/cleaner.h"
#include "daemon/cluster.h"
#include "daemon/mover.h"
#include "metrics/snapshot.h"
#include "session/list.h"

static struct str text_of(const struct native_ctx *ctx, size_t i)
{
	if (i >= ctx->nargs || ctx->args[i].null)
		return (struct str){ "", 0 };
	return ctx->args[i].u.s;
}

static int give_text(struct native_ctx *ctx, size_t i, const char *text, struct err *reterr)
{
	char *copy = arena_strndup(ctx->call->arena, text, strlen(text));

	if (copy == NULL)
		return err_nomem(reterr);
	ctx->results[i] = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), str_of(copy));
	return 0;
}

/* password_hash(@password) INTO @hash */
static int password_hash(struct native_ctx *ctx, struct err *reterr)
{
	char hash[256];

	if (auth_hash_password(text_of(ctx, 0), hash, reterr) < 0)
		return -1;
	return give_text(ctx, 0, hash, reterr);
}

/* database_create(@name, @service, @errata, @id) INTO @identity, @place */
static int database_create(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct databases_created created;
	enum service service;

	if (!catalogue_service_by_name(text_of(ctx, 1), &service) || service == SERVICE_SYSTEM)
		return err_set(reterr, ERR_ADMIN,
			       "The service of a database is word, translation, schedule or state.");
	if (databases_create(srv->databases, text_of(ctx, 0), service,
			     str_eq_nocase(text_of(ctx, 2), STR("literal")), (int)ctx->args[3].u.i, &created,
			     reterr) < 0)
		return -1;
	return give_text(ctx, 0, created.identity, reterr) < 0 ? -1
							       : give_text(ctx, 1, created.place, reterr);
}

/* database_set(@name, @commit, @commit_interval, @errata, @renewal_slack) */
static int database_set(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	const struct engine_settings s = { .relaxed = str_eq_nocase(text_of(ctx, 1), STR("relaxed")),
					   .commit_interval_ms = (int)ctx->args[2].u.i,
					   .errata_literal = str_eq_nocase(text_of(ctx, 3), STR("literal")),
					   .renewal_slack_s = (int)ctx->args[4].u.i };

	return databases_set(srv->databases, text_of(ctx, 0), &s, reterr);
}

/* database_drop(@name): its sessions are ended first, so that what runs in it ends soon. */
static int database_drop(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char name[129];

	str_copy(name, sizeof(name), text_of(ctx, 0));
	session_registry_kill_database(&srv->registry, name);
	return databases_drop(srv->databases, text_of(ctx, 0), reterr);
}

/* database_settle(): after this call what was dropped is deleted, what was created is noted. */
static int database_settle(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;

	(void)reterr;
	daemon_cleaner_kick(srv->cleaner);
	return 0;
}

/* database_check(@name) INTO @report */
static int database_check(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char *report = NULL;
	int rc = databases_check(srv->databases, text_of(ctx, 0), &report, reterr);

	if (rc == 0 || report != NULL)
		rc = give_text(ctx, 0, report == NULL ? "ok" : report, reterr);
	free(report);
	return rc;
}

/* ---- procession_database_list ---- */

struct states {
	struct native_ctx *ctx;
	struct databases *databases;
	struct err *err;
	int rc;
};

static void give_state(struct database *db, void *arg)
{
	struct states *s = arg;
	const char *damage = databases_damage(db);
	const char *state = damage == NULL ? "online" : databases_is_elsewhere(db) ? "elsewhere" : "damaged";
	struct value fields[] = { value_nvarchar(db->name), value_nvarchar(state),
				  value_nvarchar(damage == NULL ? "" : damage),
				  value_nvarchar(databases_engine_name(s->databases, db)) };

	fields[2].null = damage == NULL;
	if (s->rc == 0)
		s->rc = s->ctx->each(s->ctx, fields, ARRAY_LEN(fields), s->err);
}

/* database_states() AS ($name, $state, $reason, $engine): on a reader's thread. */
static int database_states(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct states s = { ctx, srv->databases, reterr, 0 };

	databases_each(srv->databases, give_state, &s);
	return s.rc;
}

/* ---- sp_who ---- */

static int give_session(struct native_ctx *ctx, const struct metadata_session *s, const char *server,
			struct err *reterr)
{
	const struct value fields[] = {
		value_int(TYPE_SMALLINT, s->spid), value_nvarchar(s->status),
		value_nvarchar(s->login),          value_nvarchar(s->host),
		value_int(TYPE_INT, s->blocker),   value_nvarchar(s->database),
		value_nvarchar(s->command),        value_nvarchar(server),
	};

	return ctx->each(ctx, fields, ARRAY_LEN(fields), reterr);
}

/* One of another server, as daemon_cluster_sessions() gives it. */
static int give_other_session(void *arg, const char *const *f, struct err *reterr)
{
	const struct metadata_session s = { .spid = (uint16_t)strtoul(f[2], NULL, 10),
					    .status = f[3],
					    .login = f[4],
					    .host = f[5],
					    .blocker = (uint16_t)strtoul(f[6], NULL, 10),
					    .database = f[7],
					    .command = f[8] };

	return give_session(arg, &s, f[0], reterr);
}

/* session_list() AS ($spid, $status, $login, $host, $blocker, $database, $command, $server): all,
 * of all servers, for administrators and who has the right monitor, else the caller's own. On a
 * reader's thread. */
static int give_sessions(struct native_ctx *ctx, struct err *reterr)
{
	bool all = (ctx->call->rights & RIGHT_MONITOR) != 0;
	struct server *srv = ctx->userdata;
	struct metadata_session *list;
	size_t n;

	if (session_list(srv, all ? 0 : (uint16_t)ctx->call->session, ctx->call->arena, &list, &n, reterr) <
	    0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int rc = give_session(ctx, &list[i], srv->name, reterr);
		if (rc != 0)
			return rc;
	}
	return all ? daemon_cluster_sessions(srv, give_other_session, ctx, reterr) : 0;
}

/* ---- procession_server_list ---- */

static int give_server(void *arg, const char *const *f, struct err *reterr)
{
	struct native_ctx *ctx = arg;
	const struct value fields[] = {
		value_nvarchar(f[0]),
		value_nvarchar(f[1]),
		value_nvarchar(f[2]),
		value_int(TYPE_BIGINT, strtoll(f[3], NULL, 10)),
		value_int(TYPE_BIGINT, strtoll(f[4], NULL, 10)),
		value_int(TYPE_INT, f[5][0] == '1'),
		value_int(TYPE_BIGINT, strtoll(f[6], NULL, 10)),
		value_int(TYPE_INT, f[7][0] == '1'),
	};

	return ctx->each(ctx, fields, ARRAY_LEN(fields), reterr);
}

/* server_list() AS ($name, $address, $version, $started, $sessions, $cleans, $silent, $here) */
static int give_servers(struct native_ctx *ctx, struct err *reterr)
{
	return daemon_cluster_servers(ctx->userdata, give_server, ctx, reterr);
}

/* sessions_end(@login): those of a login that is being removed. */
static int sessions_end(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char login[129];

	(void)reterr;
	str_copy(login, sizeof(login), text_of(ctx, 0));
	session_registry_kill_login(&srv->registry, login);
	return 0;
}

/* ---- backups ---- */

#define BACKUP_PIECE ((size_t)512 * 1024)

/* backup_begin(@databases) INTO @id */
static int backup_begin(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char id[BACKUP_ID];

	if (daemon_backup_begin(srv->backup, text_of(ctx, 0), id, reterr) < 0)
		return -1;
	return give_text(ctx, 0, id, reterr);
}

struct backup_rows {
	struct native_ctx *ctx;
	struct err *err;
};

static int give_backup(const struct backup_view *v, void *arg)
{
	struct backup_rows *r = arg;
	time_t seconds = (time_t)(v->taken_us / 1000000);
	struct tm utc;
	char taken[40] = "";
	int rc = 0;

	if (gmtime_r(&seconds, &utc) != NULL)
		strftime(taken, sizeof(taken), "%Y-%m-%dT%H:%M:%SZ", &utc);
	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		const struct backup_file *f = &v->files[i];
		struct value fields[] = { value_nvarchar(v->id),
					  value_nvarchar(daemon_backup_state_name(v->state)),
					  value_nvarchar(taken),
					  value_nvarchar(f->name),
					  value_nvarchar(catalogue_service_name(f->service)),
					  value_nvarchar(f->file),
					  value_int(TYPE_BIGINT, (int64_t)f->bytes),
					  value_nvarchar(f->sha256),
					  value_nvarchar(v->reason == NULL ? "" : v->reason) };

		fields[8].null = v->reason == NULL;
		rc = r->ctx->each(r->ctx, fields, ARRAY_LEN(fields), r->err);
	}
	return rc;
}

/* backup_files() AS ($id, $state, $taken, $name, $service, $file, $bytes, $sha256, $reason) */
static int backup_files(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct backup_rows r = { ctx, reterr };

	return daemon_backup_look(srv->backup, give_backup, &r);
}

static int give_left_out(const struct backup_view *v, void *arg)
{
	struct backup_rows *r = arg;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < v->nleft_out; i++) {
		const struct backup_left_out *l = &v->left_out[i];
		const struct value fields[] = { value_nvarchar(l->name),
						value_nvarchar(catalogue_service_name(l->service)),
						value_nvarchar(l->engine) };

		rc = r->ctx->each(r->ctx, fields, ARRAY_LEN(fields), r->err);
	}
	return rc;
}

/* backup_left_out() AS ($name, $service, $engine) */
static int backup_left_out(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct backup_rows r = { ctx, reterr };

	return daemon_backup_look(srv->backup, give_left_out, &r);
}

/* backup_read(@id, @file, @offset) INTO @data */
static int backup_read(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char *piece = arena_alloc(ctx->call->arena, BACKUP_PIECE);
	size_t n = 0;

	if (piece == NULL)
		return err_nomem(reterr);
	if (ctx->args[2].u.i < 0)
		return err_set(reterr, ERR_ADMIN, "The offset is 0 or more.");
	if (daemon_backup_read(srv->backup, text_of(ctx, 0), text_of(ctx, 1), ctx->args[2].u.i, piece,
			       BACKUP_PIECE, &n, reterr) < 0)
		return -1;
	ctx->results[0] = value_text(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), (struct str){ piece, n });
	ctx->results[0].null = n == 0;
	return 0;
}

/* backup_end(@id) INTO @done */
static int backup_end(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;

	(void)reterr;
	daemon_backup_end(srv->backup, text_of(ctx, 0));
	ctx->results[0] = value_int(TYPE_INT, 1);
	return 0;
}

/* ---- moves ---- */

/* database_move_begin(@name, @to) INTO @id */
static int database_move_begin(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char id[MOVER_ID];

	if (daemon_mover_begin(srv->mover, text_of(ctx, 0), text_of(ctx, 1), id, reterr) < 0)
		return -1;
	return give_text(ctx, 0, id, reterr);
}

/* database_moves() AS ($id, $name, $to, $state, $phase, $rows, $total, $bytes, $changed, $seconds,
 * $held, $note, $reason) */
static int database_moves(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct mover_view v;

	if (!daemon_mover_look(srv->mover, &v))
		return 0;
	struct value fields[] = { value_nvarchar(v.id),
				  value_nvarchar(v.name),
				  value_nvarchar(v.to),
				  value_nvarchar(daemon_mover_state_name(v.state)),
				  value_nvarchar(daemon_mover_phase_name(v.phase)),
				  value_int(TYPE_BIGINT, (int64_t)v.rows),
				  value_int(TYPE_BIGINT, (int64_t)v.total),
				  value_int(TYPE_BIGINT, (int64_t)v.bytes),
				  value_int(TYPE_BIGINT, (int64_t)v.changed),
				  value_int(TYPE_BIGINT, v.seconds),
				  value_int(TYPE_BIGINT, v.held_ms),
				  value_nvarchar(v.note),
				  value_nvarchar(v.reason) };

	fields[11].null = v.note[0] == '\0';
	fields[12].null = v.reason[0] == '\0';
	return ctx->each(ctx, fields, ARRAY_LEN(fields), reterr);
}

/* database_move_end(@id) INTO @done */
static int database_move_end(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;

	(void)reterr;
	daemon_mover_end(srv->mover, text_of(ctx, 0));
	ctx->results[0] = value_int(TYPE_INT, 1);
	return 0;
}

/* ---- procession_stats ---- */

static struct value text_or_null(const char *text)
{
	struct value v = value_nvarchar(text == NULL ? "" : text);

	v.null = text == NULL;
	return v;
}

struct numbers {
	struct native_ctx *ctx;
	struct err *err;
};

static int give_number(const struct metrics_row *r, void *arg)
{
	struct numbers *n = arg;
	struct value number = { .type = TYPE_OF(TYPE_FLOAT), .u.f = r->value };
	char name[128];

	snprintf(name, sizeof(name), "%s%s", r->name, r->suffix);
	const struct value fields[] = { value_nvarchar(name), text_or_null(metrics_row_value(r, "database")),
					text_or_null(metrics_row_value(r, "procedure")),
					text_or_null(metrics_row_label(r)), number };

	return n->ctx->each(n->ctx, fields, ARRAY_LEN(fields), n->err);
}

/* server_numbers(@buckets) AS ($name, $database, $procedure, $label, $value): on a reader's
 * thread. */
static int server_numbers(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	struct numbers n = { ctx, reterr };
	struct metrics_snapshot *s;
	int rc = metrics_take(srv->metrics, &s, reterr);

	if (rc < 0)
		return -1;
	rc = metrics_each(s, ctx->nargs > 0 && !ctx->args[0].null && ctx->args[0].u.i != 0, give_number, &n);
	metrics_snapshot_free(s);
	return rc;
}

void daemon_natives_register(struct server *srv)
{
	catalogue_native_register(&srv->natives, "backup_begin", backup_begin, srv);
	catalogue_native_register(&srv->natives, "backup_files", backup_files, srv);
	catalogue_native_register(&srv->natives, "backup_left_out", backup_left_out, srv);
	catalogue_native_register(&srv->natives, "backup_read", backup_read, srv);
	catalogue_native_register(&srv->natives, "backup_end", backup_end, srv);
	catalogue_native_register(&srv->natives, "database_move_begin", database_move_begin, srv);
	catalogue_native_register(&srv->natives, "database_moves", database_moves, srv);
	catalogue_native_register(&srv->natives, "database_move_end", database_move_end, srv);
	catalogue_native_register(&srv->natives, "sessions_end", sessions_end, srv);
	catalogue_native_register(&srv->natives, "session_list", give_sessions, srv);
	catalogue_native_register(&srv->natives, "server_list", give_servers, srv);
	catalogue_native_register(&srv->natives, "server_numbers", server_numbers, srv);
	catalogue_native_register(&srv->natives, "database_states", database_states, srv);
	catalogue_native_register(&srv->natives, "password_hash", password_hash, srv);
	catalogue_native_register(&srv->natives, "database_create", database_create, srv);
	catalogue_native_register(&srv->natives, "database_drop", database_drop, srv);
	catalogue_native_register(&srv->natives, "database_settle", database_settle, srv);
	catalogue_native_register(&srv->natives, "database_set", database_set, srv);
	catalogue_native_register(&srv->natives, "database_check", database_check, srv);
}
