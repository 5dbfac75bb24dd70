/* files.c — see files.h. Connections are strangers' to open, and files are what everybody's
 * calls need: the engine opens connections to its databases when they are first wanted. So the
 * descriptors for files are set aside first, and connections get what is left. */
#include "daemon/files.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/log.h"

/* more than the settings can use; some systems would allow thousands of millions */
#define FILES_MAX 131072u
#define FILES_EACH_LOOP 6u
/* certificates, databases that are created later, what libraries open for a moment */
#define FILES_MARGIN 64u

void daemon_files_raise(void)
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

/* What files may take beside what is open. */
static unsigned wanted_by_files(struct server *srv, unsigned io_threads)
{
	return engine_descriptors(srv->engine, io_threads) + io_threads * FILES_EACH_LOOP + FILES_MARGIN;
}

int daemon_files_connections(struct server *srv, unsigned io_threads, unsigned *ret, struct err *reterr)
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
	assert(*ret > 0 && *ret < wanted);
	LOG(LOG_WARN, NULL, "fewer_connections", F_INT("max_connections", *ret), F_INT("wanted", wanted),
	    F_INT("open_files", lim.rlim_cur), F_INT("for_files", files),
	    F_STR("remedy",
		  "raise the limit of open files (ulimit -n, LimitNOFILE) or lower max_connections"));
	return 0;
}
