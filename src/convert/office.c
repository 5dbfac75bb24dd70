/* office.c — the second attempt: the program soffice, started anew for this document. It takes
 * ten times as long, and shares nothing with what failed before. It exits 0 without an output
 * for damaged files, so the output is what is looked at. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "convert/nursery_int.h"

static void __attribute__((noreturn))
execute(const struct convert_nursery *n, const struct convert_order *o, const char *folder, const char *input)
{
	const struct convert_format_row *row = convert_format_of(o->format);
	char program[CONVERT_PATH_MAX + 32], profile[CONVERT_PATH_MAX], to[1024], out[CONVERT_PATH_MAX];
	const char *dot = strrchr(input, '.');
	/* Opened as a web page, which soffice does by itself, it loses its first paragraph. */
	bool html = dot != NULL && strcmp(dot, ".html") == 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	snprintf(program, sizeof(program), "%s/program/soffice.bin", n->hello.office);
	snprintf(profile, sizeof(profile), "-env:UserInstallation=file://%s/profile", folder);
	snprintf(to, sizeof(to), "%s:%s%s%s", row->extension, row->filter, o->options[0] != '\0' ? ":" : "",
		 o->options);
	if (null >= 0) {
		dup2(null, 1);
		dup2(null, 2);
	}
	unsetenv("SAL_LOK_OPTIONS");
	/* here the profile is its own, and may be written to */
	unsetenv("CONFIGURATION_LAYERS");
	/* Without /proc a program does not know where it lies, and so not where its libraries
	 * are. */
	snprintf(out, sizeof(out), "%s/program", n->hello.office);
	setenv("LD_LIBRARY_PATH", out, 1);
	snprintf(out, sizeof(out), "%s/made", folder);
	execl(program, "soffice.bin", "--headless", "--norestore", "--nolockcheck", profile, "--convert-to",
	      to, "--outdir", out, input, html ? "--infilter=HTML (StarWriter)" : NULL, NULL);
	_exit(127);
}

/* soffice's own word for "start me again", which it says after it has made its profile. */
#define RESTART 81

static int run(const struct convert_nursery *n, const struct convert_order *o, const char *folder,
	       const char *input)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		execute(n, o, folder, input);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid < 0 ? -1 : status;
}

/* A profile of its own, that has been started before. */
static int make_profile(const char *folder, const char *language)
{
	static const char *const levels[] = { "/profile", "/profile/user" };
	char path[CONVERT_PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, levels[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	snprintf(path, sizeof(path), "%s/profile/user/registrymodifications.xcu", folder);
	return convert_write_profile(path, language);
}

int convert_by_office(const struct convert_nursery *n, const struct convert_order *o, const char *folder,
		      const char *input, const char *output, struct err *reterr)
{
	char made[CONVERT_PATH_MAX];
	int status;

	if (make_profile(folder, o->language) < 0)
		return err_raise(reterr, DOCUMENT_UNKNOWN, 16, 1,
				 "LibreOffice's settings could not be written");
	status = run(n, o, folder, input);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == RESTART)
		status = run(n, o, folder, input);
	if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return err_raise(reterr, DOCUMENT_ENGINE_MISSING, 16, 1, "soffice.bin could not be started");
	if (WIFSIGNALED(status))
		return err_raise(reterr, DOCUMENT_WORKER_FAILED, 16, 1,
				 "LibreOffice crashed on it (signal %d)", WTERMSIG(status));
	snprintf(made, sizeof(made), "%s/made/document.%s", folder, convert_format_of(o->format)->extension);
	if (rename(made, output) < 0)
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
				 "LibreOffice cannot read it, at a second attempt either");
	return 0;
}
