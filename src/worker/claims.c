/* claims.c — see worker_int.h. DIR/journal has a line for each item, JSON: job, group, item,
 * root and name of its output; a new one is written beside it and renamed. DIR/lock is held
 * while a worker uses the folder, DIR/instance tells this worker from others in the database. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "value/guid.h"
#include "worker/worker_int.h"

#define DIED_MAX 64 /* as many as a worker can have had at once */

struct claims {
	char *dir; /* NULL: in memory only */
	struct folder_lock lock;
	char instance[37];
	struct list entries;
	struct queue_key died[DIED_MAX]; /* the oldest gives way */
	size_t ndied;
};

static int failed(const struct claims *j, const char *what, const char *name, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1, "cannot %s '%s/%s': %s", what, j->dir, name, strerror(errno));
}

/* --- the instance --- */

static void new_instance(struct claims *j)
{
	uint8_t guid[16];

	guid_random(guid);
	guid_format(guid, j->instance);
}

static int load_instance(struct claims *j, struct err *reterr)
{
	FILE *f = folder_fopen(j->dir, "instance", "re");
	uint8_t guid[16];
	char text[64] = "";

	if (f != NULL) {
		if (fgets(text, sizeof(text), f) == NULL)
			text[0] = '\0';
		fclose(f);
		text[strcspn(text, "\n")] = '\0';
	}
	if (strlen(text) == 36 && guid_parse(str_of(text), guid)) {
		guid_format(guid, j->instance);
		return 0;
	}
	new_instance(j);
	f = folder_fopen(j->dir, "instance.new", "we");
	if (f == NULL || fprintf(f, "%s\n", j->instance) < 0 || fclose(f) != 0 ||
	    !folder_rename(j->dir, "instance.new", "instance"))
		return failed(j, "write", "instance", reterr);
	return 0;
}

const char *worker_claims_instance(const struct claims *j)
{
	return j->instance;
}

/* --- entries --- */

static void entry_free(struct claim *e)
{
	list_remove(&e->link);
	free(e->output_root);
	free(e->output);
	free(e);
}

int worker_claims_add(struct claims *j, const struct queue_key *k, const char *output_root,
		      const char *output, struct err *reterr)
{
	struct claim *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return err_nomem(reterr);
	e->key = *k;
	e->output_root = strdup(output_root != NULL ? output_root : "");
	e->output = strdup(output != NULL ? output : "");
	list_append(&j->entries, &e->link);
	if (e->output_root == NULL || e->output == NULL) {
		entry_free(e);
		return err_nomem(reterr);
	}
	return 0;
}

static bool same_key(const struct queue_key *a, const struct queue_key *b)
{
	return a->job == b->job && a->group == b->group && a->item == b->item;
}

struct claim *worker_claims_find(struct claims *j, const struct queue_key *k)
{
	LIST_EACH (it, &j->entries) {
		struct claim *e = CONTAINER_OF(it, struct claim, link);

		if (same_key(&e->key, k))
			return e;
	}
	return NULL;
}

void worker_claims_remove(struct claims *j, const struct queue_key *k)
{
	struct claim *e = worker_claims_find(j, k);

	if (e != NULL)
		entry_free(e);
}

void worker_claims_died(struct claims *j, const struct queue_key *k)
{
	j->died[j->ndied++ % DIED_MAX] = *k;
}

bool worker_claims_has_died(const struct claims *j, const struct queue_key *k)
{
	for (size_t i = 0; i < j->ndied && i < DIED_MAX; i++)
		if (same_key(&j->died[i], k))
			return true;
	return false;
}

struct list *worker_claims_entries(struct claims *j)
{
	return &j->entries;
}

int worker_claims_save(struct claims *j, struct err *reterr)
{
	FILE *f;
	bool ok;

	if (j->dir == NULL)
		return 0;
	f = folder_fopen(j->dir, "journal.new", "we");
	if (f == NULL)
		return failed(j, "write", "journal.new", reterr);
	LIST_EACH (it, &j->entries) {
		const struct claim *e = CONTAINER_OF(it, struct claim, link);

		fprintf(f, "[%lld, %d, %d, ", (long long)e->key.job, e->key.group, e->key.item);
		json_put_string(f, e->output_root);
		fputs(", ", f);
		json_put_string(f, e->output);
		fputs("]\n", f);
	}
	ok = fflush(f) == 0 && ferror(f) == 0;
	ok = fclose(f) == 0 && ok;
	return ok && folder_rename(j->dir, "journal.new", "journal") ? 0
								     : failed(j, "write", "journal", reterr);
}

/* --- opening --- */

/* A number and what stands behind it; advances past both. */
static bool read_number(const char **p, int64_t *ret)
{
	char *end;

	*ret = strtoll(*p, &end, 10);
	if (end == *p || strncmp(end, ", ", 2) != 0)
		return false;
	*p = end + 2;
	return true;
}

static bool read_line(struct claims *j, const char *line)
{
	char root[9000], output[9000];
	struct queue_key k;
	const char *p = line;
	int64_t job, group, item;

	if (*p++ != '[' || !read_number(&p, &job) || !read_number(&p, &group) || !read_number(&p, &item))
		return false;
	k = (struct queue_key){ .job = job, .group = (int)group, .item = (int)item };
	return json_get_string(&p, root, sizeof(root)) && strncmp(p, ", ", 2) == 0 &&
	       (p += 2, json_get_string(&p, output, sizeof(output))) &&
	       worker_claims_add(j, &k, root, output, NULL) == 0;
}

static int load(struct claims *j, struct err *reterr)
{
	FILE *f = folder_fopen(j->dir, "journal", "re");
	char *line = NULL;
	size_t size = 0;

	if (f == NULL)
		return errno == ENOENT ? 0 : failed(j, "read", "journal", reterr);
	while (getline(&line, &size, f) > 0)
		if (!read_line(j, line))
			LOG(LOG_ERROR, NULL, "journal", F_STR("why", "a line is damaged and left out"),
			    F_STR("line", line));
	free(line);
	fclose(f);
	return 0;
}

static int lock(struct claims *j, struct err *reterr)
{
	if (folder_lock(j->dir, &j->lock))
		return 0;
	if (errno != EWOULDBLOCK)
		return failed(j, "write", "lock", reterr);
	return err_raise(reterr, 50000, 16, 1,
			 "another worker uses the folder '%s'; give this one its own with --state", j->dir);
}

int worker_claims_open(const char *dir, bool is_locked, struct claims **ret, struct err *reterr)
{
	struct claims *j = calloc(1, sizeof(*j));
	int rc = 0;

	if (j == NULL)
		return err_nomem(reterr);
	list_init(&j->entries);
	j->lock = FOLDER_UNLOCKED;
	new_instance(j);
	if (dir != NULL) {
		j->dir = strdup(dir);
		rc = j->dir == NULL      ? err_nomem(reterr)
		     : !folder_make(dir) ? failed(j, "create", "", reterr)
		     : is_locked         ? 0
					 : lock(j, reterr);
		if (rc == 0)
			rc = load_instance(j, reterr);
		if (rc == 0)
			rc = load(j, reterr);
	}
	if (rc < 0) {
		worker_claims_close(j);
		return rc;
	}
	*ret = j;
	return 0;
}

void worker_claims_close(struct claims *j)
{
	if (j == NULL)
		return;
	for (struct list *it = j->entries.next, *next; it != &j->entries; it = next) {
		next = it->next;
		entry_free(CONTAINER_OF(it, struct claim, link));
	}
	folder_unlock(&j->lock);
	free(j->dir);
	free(j);
}
