/* files.c — see files.h. Connections are strangers' to open, and files are what everybody's calls need: a reader opens its connection to the store when it is first
 * wanted. So the descriptors for files are set aside first, and connections get what is left. */
#include "daemon/files.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/log.h"

#define FILES_MAX 131072u /* more than the settings can use; some systems would allow thousands of millions */
#define FILES_EACH_STORE 3u /* a connection to a store: file, log, index of the log */
#define FILES_EACH_LOOP 6u
#define FILES_MARGIN \
	64u /* certificates, databases that are created later, what libraries open for a moment */

void files_raise(void)
{
	struct rlimit lim;
	rlim_t want;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return;
	want = lim.rlim_max == RLIM_INFINITY || lim.rlim_max > FILES_MAX ? FILES_MAX : lim.rlim_max;
	if (lim.rlim_cur != RLIM_INFINITY && lim.rlim_cur < want) {
		lim.rlim_cur = want;
		(void)setrlimit(RLIMIT_NOFILE, &lim); /* if it fails, fewer connections fit */
	}
}

static unsigned open_now(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	if (d == NULL)
		return FILES_MARGIN;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void count_one(struct database *db, void *arg)
{
	unsigned *n = arg;

	(void)db;
	++*n;
}

/* What files may take beside what is open: for each database its readers, its checkpointer, and a connection that each loop reads through. */
static unsigned wanted_by_files(struct server *srv, unsigned io_threads)
{
	unsigned databases = 0;

	databases_each(srv->databases, count_one, &databases);
	return databases * ((unsigned)srv->config->readers + io_threads + 2) * FILES_EACH_STORE +
	       io_threads * FILES_EACH_LOOP + FILES_MARGIN;
}

int files_connections(struct server *srv, unsigned io_threads, unsigned *ret, struct err *reterr)
{
	const struct config *c = srv->config;
	unsigned wanted = (unsigned)c->max_connections;
	unsigned beside = NET_REFUSALS + NET_REFUSALS_HERE + (unsigned)c->admin_reserved_connections;
	unsigned files = open_now() + wanted_by_files(srv, io_threads);
	struct rlimit lim;
	char text[300];

	*ret = wanted;
	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur == RLIM_INFINITY ||
	    lim.rlim_cur >= (rlim_t)wanted + beside + files)
		return 0;
	if (lim.rlim_cur <= (rlim_t)beside + files) {
		snprintf(text, sizeof(text),
			 "The limit of open files (%llu) leaves no room for connections: %u are needed for "
			 "files, %u for connections that are refused and for "
			 "administrators. Raise it (ulimit -n, LimitNOFILE).",
			 (unsigned long long)lim.rlim_cur, files, beside);
		return err_set(reterr, ERR_START, text);
	}
	*ret = (unsigned)lim.rlim_cur - beside - files;
	LOG(LOG_WARN, NULL, "fewer_connections", F_INT("max_connections", *ret), F_INT("wanted", wanted),
	    F_INT("open_files", lim.rlim_cur), F_INT("for_files", files),
	    F_STR("remedy",
		  "raise the limit of open files (ulimit -n, LimitNOFILE) or lower max_connections"));
	return 0;
}
