/* program.c — starting procession-converter in its jail, and talking to it. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "convert/engine_int.h"

#define INSIDE "/converter"
/* LibreOffice's profile, while it starts, and nothing else: a document has a folder of its own. */
#define TMP_SIZE (UINT64_C(256) << 20)

static int spawn(struct convert_program *p, const struct convert_engine *e, int socket, struct err *reterr)
{
	const struct jail_path paths[] = {
		{ e->program, INSIDE },           { e->office, NULL },    { "/etc/libreoffice", NULL },
		{ "/var/lib/libreoffice", NULL }, { "/etc/fonts", NULL }, { "/var/cache/fontconfig", NULL },
	};
	const struct jail_spec spec = {
		.off = e->options.jail_off,
		.paths = paths,
		.npaths = ARRAY_LEN(paths),
		.tmp_size = TMP_SIZE,
		.nursery = true,
	};
	const char *const argv[] = { spec.off ? e->program : INSIDE, NULL };
	/* A document is worked on by one thread; there are as many documents as there is work
	 * for processors. */
	static const char *const env[] = { "PATH=/usr/bin:/bin",
					   "HOME=/tmp",
					   "LANG=C.UTF-8",
					   "SAL_USE_VCLPLUGIN=svp",
					   "MAX_CONCURRENCY=1",
					   "SAL_LOK_OPTIONS=unipoll",
					   NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), rc;

	if (null < 0)
		return err_raise(reterr, 50000, 16, 1, "/dev/null cannot be opened: %s", strerror(errno));
	rc = jail_spawn(&spec, argv, env, (const int[]){ null, p->errors, p->errors, socket }, 4, &p->process,
			reterr);
	close(null);
	return rc;
}

static int greet(struct convert_program *p, const struct convert_engine *e)
{
	struct convert_hello h = {
		.version = CONVERT_WIRE_VERSION,
		.slots = e->slots,
		.jailed = !e->options.jail_off,
		.tmp_size = e->options.unpacked_max + e->options.output_max,
		.memory = e->options.memory,
		.output_max = e->options.output_max,
		.unpacked_max = e->options.unpacked_max,
	};

	str_copy(h.base, sizeof(h.base), str_of(p->folder[0] != '\0' ? p->folder : "/tmp"));
	str_copy(h.office, sizeof(h.office), str_of(e->office));
	return send(p->socket, &h, sizeof(h), MSG_NOSIGNAL) == (ssize_t)sizeof(h) ? 0 : -1;
}

static uint64_t random_number(void)
{
	uint64_t n = 0;

	(void)!getrandom(&n, sizeof(n), 0);
	return n;
}

int convert_program_start(struct convert_program *p, const struct convert_engine *e, struct err *reterr)
{
	int pair[2], rc;

	assert(!p->used);
	*p = (struct convert_program){ .socket = -1, .errors = memfd_create("errors", MFD_CLOEXEC) };
	if (p->errors < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		rc = err_raise(reterr, 50000, 16, 1, "no socket for the converter: %s", strerror(errno));
		convert_program_close(p);
		return rc;
	}
	p->socket = pair[0];
	if (e->options.jail_off) /* a name that nobody has taken or can guess */
		snprintf(p->folder, sizeof(p->folder), "/tmp/procession-convert-%016llx",
			 (unsigned long long)random_number());
	rc = spawn(p, e, pair[1], reterr);
	close(pair[1]);
	if (rc < 0) {
		convert_program_close(p);
		return -1;
	}
	p->used = true;
	/* If that fails it has died, and its socket will say so. */
	(void)greet(p, e);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	/* What another one has removed meanwhile is gone, too. */
	(void)remove(path);
	return 0;
}

void convert_program_close(struct convert_program *p)
{
	if (p->folder[0] != '\0')
		(void)nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (p->socket >= 0)
		close(p->socket);
	if (p->errors >= 0)
		close(p->errors);
	*p = (struct convert_program){ .socket = -1, .errors = -1 };
}

void convert_program_send(struct convert_program *p, const struct convert_request *r, int input, int output)
{
	const int fds[2] = { input, output };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { .room = { 0 } };
	struct iovec part = { (void *)r, sizeof(*r) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (input >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(c), fds, sizeof(fds));
	}
	(void)!sendmsg(p->socket, &m, MSG_NOSIGNAL);
}

void convert_program_last_words(const struct convert_program *p, char *ret, size_t size)
{
	struct stat st;
	ssize_t n;

	ret[0] = '\0';
	if (fstat(p->errors, &st) < 0)
		return;
	n = pread(p->errors, ret, size - 1, st.st_size >= (off_t)size ? st.st_size - (off_t)size + 1 : 0);
	ret[n > 0 ? n : 0] = '\0';
}
