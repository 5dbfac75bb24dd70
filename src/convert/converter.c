/* converter.c — procession-converter: LibreOffice inside the jail, driven by the engine over a
 * socket. It is not for people. It initialises LibreOffice once, converts one small document so
 * that everything is loaded, and then forks a process for each document (nursery.c, job.c). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "convert/nursery_int.h"

#include <LibreOfficeKit/LibreOfficeKitInit.h>

static void __attribute__((noreturn)) cannot_begin(const struct convert_nursery *n, const char *why)
{
	struct convert_reply r = { .kind = CONVERT_NOT_READY, .error = DOCUMENT_ENGINE_MISSING };

	str_copy(r.text, sizeof(r.text), str_of(why));
	(void)!send(n->socket, &r, sizeof(r), MSG_NOSIGNAL);
	_exit(1);
}

/* A layer of settings that LibreOffice cannot write to: the thread that would write it makes forked
 * processes hang. */
static int make_profile(const struct convert_nursery *n)
{
	char path[CONVERT_PATH_MAX], layers[1024], packages[CONVERT_PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/profile.xcu", n->hello.base);
	snprintf(layers, sizeof(layers),
		 "xcsxcu:${BRAND_BASE_DIR}/share/registry res:${BRAND_BASE_DIR}/share/registry "
		 "user:*file://%s",
		 path);
	/* Extensions of the machine are not looked for: where root has once started LibreOffice,
	 * the list of them cannot be read by others, which ends it. */
	snprintf(packages, sizeof(packages), "file://%s/packages", n->hello.base);
	return setenv("CONFIGURATION_LAYERS", layers, 1) < 0 || setenv("TMPDIR", n->hello.base, 1) < 0 ||
			       setenv("UNO_SHARED_PACKAGES_CACHE", packages, 1) < 0 ||
			       convert_write_profile(path, "") < 0
		       ? -1
		       : 0;
}

static void woken(void *nursery)
{
	(void)nursery;
}

int main(void)
{
	struct convert_nursery n = { .socket = CONVERT_SOCKET, .started = clock_mono_ms() };
	char program[CONVERT_PATH_MAX + 16], profile[CONVERT_PATH_MAX];
	struct err e = { 0 };

	if (recv(n.socket, &n.hello, sizeof(n.hello), 0) != (ssize_t)sizeof(n.hello) ||
	    n.hello.version != CONVERT_WIRE_VERSION || n.hello.slots > CONVERT_SLOTS_MAX) {
		fprintf(stderr, "procession-converter is started by 'procession worker convert' and "
				"'procession convert'.\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	n.hello.office[sizeof(n.hello.office) - 1] = '\0';
	n.hello.base[sizeof(n.hello.base) - 1] = '\0';
	if (!n.hello.jailed && mkdir(n.hello.base, 0700) < 0)
		cannot_begin(&n, "no folder for temporary files in /tmp");
	if (make_profile(&n) < 0)
		cannot_begin(&n, "LibreOffice's settings could not be written to its temporary folder");
	if (jail_filter_new(false, &n.alone, &e) < 0 || jail_filter_new(true, &n.executing, &e) < 0)
		cannot_begin(&n, e.text);
	snprintf(program, sizeof(program), "%s/program", n.hello.office);
	snprintf(profile, sizeof(profile), "file://%s/user", n.hello.base);
	n.kit = lok_init_2(program, profile);
	if (n.kit == NULL)
		cannot_begin(&n,
			     "LibreOffice could not be initialised: sudo apt-get install libreoffice-writer");
	n.kit->pClass->runLoop(n.kit, convert_nursery_poll, woken, &n);
	return 1; /* only a LibreOffice that gave up comes back */
}
