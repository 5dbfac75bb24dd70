/* history.c — see history.h. */
#include "worker/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/log.h"
#include "document/errors.h"

#define HISTORY_MAX (8 * 1024 * 1024)
#define LINE_FORMAT \
	"{\"service\": \"%s\", \"job\": %lld, \"group\": %d, \"item\": %d, \"attempt\": %d, \"error\": %d, " \
	"\"final\": %s, "

static bool path_of(const char *dir, const char *name, char *dst, size_t size)
{
	return snprintf(dst, size, "%s/%s", dir, name) < (int)size;
}

static void write_line(FILE *f, const struct history_line *l)
{
	char when[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	fprintf(f, LINE_FORMAT, l->service, (long long)l->key.job, l->key.group, l->key.item, l->attempt,
		l->error, l->final ? "true" : "false");
	fprintf(f, "\"time\": \"%s\", \"name\": \"%s\", \"input\": ", when, document_error_name(l->error));
	json_put_string(f, l->input != NULL ? l->input : "");
	fputs(", \"text\": ", f);
	json_put_string(f, l->text);
	fputs("}\n", f);
}

void worker_history_append(const char *dir, const struct history_line *l)
{
	char path[4096], old[4096];
	FILE *f = path_of(dir, "history", path, sizeof(path)) ? fopen(path, "ae") : NULL;
	long size = 0;
	bool ok = f != NULL;

	if (ok) {
		write_line(f, l);
		size = ftell(f);
		ok = fclose(f) == 0;
	}
	if (ok && size > HISTORY_MAX)
		ok = path_of(dir, "history.1", old, sizeof(old)) && rename(path, old) == 0;
	if (!ok)
		LOG(LOG_ERROR, NULL, "history", F_STR("why", strerror(errno)), F_STR("folder", dir));
}

/* --- reading --- */

struct entry {
	int group, item;
	char *text;
};

struct history {
	struct entry *entries;
	size_t n, room;
};

static bool remember(struct history *h, int group, int item, const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		return false;
	for (size_t i = 0; i < h->n; i++) {
		if (h->entries[i].group == group && h->entries[i].item == item) {
			free(h->entries[i].text);
			h->entries[i].text = copy;
			return true;
		}
	}
	if (h->n == h->room) {
		size_t room = h->room == 0 ? 64 : 2 * h->room;
		struct entry *grown = realloc(h->entries, room * sizeof(*grown));

		if (grown == NULL) {
			free(copy);
			return false;
		}
		h->entries = grown;
		h->room = room;
	}
	h->entries[h->n++] = (struct entry){ group, item, copy };
	return true;
}

static bool skip(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

static bool skip_to_number(const char **p, const char *before, int64_t *ret)
{
	char *end;

	if (!skip(p, before))
		return false;
	*ret = strtoll(*p, &end, 10);
	if (end == *p)
		return false;
	*p = end;
	return true;
}

/* A line that is not ours, or cut off by a crash, says nothing. */
static bool read_line(struct history *h, const char *line, const char *service, int64_t wanted)
{
	const char *p = line;
	int64_t job, group, item;
	char text[1024];

	if (!skip(&p, "{\"service\": \"") || !skip(&p, service) ||
	    !skip_to_number(&p, "\", \"job\": ", &job) || !skip_to_number(&p, ", \"group\": ", &group) ||
	    !skip_to_number(&p, ", \"item\": ", &item) || job != wanted)
		return true;
	p = strstr(line, "\", \"input\": ");
	if (p == NULL)
		return true;
	p += strlen("\", \"input\": ");
	if (!json_get_string(&p, text, sizeof(text)) || strncmp(p, ", \"text\": ", 10) != 0)
		return true;
	p += 10;
	return !json_get_string(&p, text, sizeof(text)) || remember(h, (int)group, (int)item, text);
}

static bool read_file(struct history *h, const char *path, const char *service, int64_t job)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool ok = true;

	if (f == NULL)
		return true; /* none yet, or not for us */
	while (ok && getline(&line, &size, f) > 0)
		ok = read_line(h, line, service, job);
	free(line);
	fclose(f);
	return ok;
}

int worker_history_read(const char *dir, const char *service, int64_t job, struct history **ret,
			struct err *reterr)
{
	struct history *h = calloc(1, sizeof(*h));
	char path[4096];

	if (h == NULL)
		return err_nomem(reterr);
	for (int i = 0; dir != NULL && i < 2; i++) {
		if (!path_of(dir, i == 0 ? "history.1" : "history", path, sizeof(path)) ||
		    !read_file(h, path, service, job)) {
			worker_history_free(h);
			return err_nomem(reterr);
		}
	}
	*ret = h;
	return 0;
}

int worker_history_add(struct history *h, int group, int item, const char *text, struct err *reterr)
{
	return remember(h, group, item, text) ? 0 : err_nomem(reterr);
}

const char *worker_history_text(const struct history *h, int group, int item)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->entries[i].group == group && h->entries[i].item == item)
			return h->entries[i].text;
	return NULL;
}

void worker_history_free(struct history *h)
{
	for (size_t i = 0; h != NULL && i < h->n; i++)
		free(h->entries[i].text);
	if (h != NULL)
		free(h->entries);
	free(h);
}
