/* firststart.c — see firststart.h. */
#include "daemon/firststart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "base/rights.h"
#include "engine/ask.h"
#include "net/net.h"

#define PATH_SIZE 4096

static int path_in(const struct config *c, const char *name, char *dst, struct err *reterr)
{
	int n = snprintf(dst, PATH_SIZE, "%s/%s", c->data, name);

	if (n < 0 || n >= PATH_SIZE)
		return err_raise(reterr, 50021, 16, 1, "The path of the data folder is too long: %s",
				 c->data);
	return 0;
}

/* "by the server with process id 4711", as far as the one that has the folder wrote it down. */
static int in_use(const struct config *c, struct err *reterr)
{
	FILE *f = folder_fopen(c->data, "lock", "re");
	char pid[16] = "";

	if (f != NULL && fgets(pid, sizeof(pid), f) == NULL)
		pid[0] = '\0';
	if (f != NULL)
		fclose(f);
	pid[strspn(pid, "0123456789")] = '\0';
	return err_raise(reterr, 50021, 16, 1,
			 "The data folder %s is in use by another server%s%s. Stop that one, or give --data "
			 "another folder.",
			 c->data, pid[0] == '\0' ? "" : " with process id ", pid);
}

/* Most who come here have a folder of another user's server, say root's: in it, or it itself. */
static int not_allowed(const char *folder, const char *file, struct err *reterr)
{
	const int why = errno;
	const char *where = access(folder, R_OK) == 0 && access(file, F_OK) == 0 ? file : folder;
	char rights[100];

	rights_describe(where, rights, sizeof(rights));
	return err_raise(
		reterr, 50021, 16, 1,
		"Cannot use the data folder %s: %s: %s%s. Start the server as the folder's owner, or "
		"give --data another folder.",
		folder, where, strerror(why), rights);
}

/* For the message of whoever comes next; nothing depends on it. */
static void write_pid(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
		LOG(LOG_DEBUG, NULL, "lock_file", F_STR("reason", strerror(errno)));
}

int daemon_firststart_folder(const struct config *c, bool *ret_made, struct err *reterr)
{
	struct folder_lock l; /* kept until the process ends */
	char path[PATH_SIZE];

	*ret_made = mkdir(c->data, 0700) == 0;
	if (!*ret_made && errno != EEXIST)
		return err_raise(reterr, 50021, 16, 1,
				 "The data folder %s cannot be made: %s. Give --data a folder that this user "
				 "may create.",
				 c->data, strerror(errno));
	if (path_in(c, "lock", path, reterr) < 0)
		return -1;
	if (!folder_lock(c->data, &l))
		return errno == EWOULDBLOCK ? in_use(c, reterr) : not_allowed(c->data, path, reterr);
	write_pid(l.file);
	return 0;
}

void daemon_firststart_undo(const struct config *c)
{
	DIR *dir = opendir(c->data);
	struct dirent *e;

	if (dir == NULL)
		return;
	/* Files only: whatever else is there was not made by this start, and keeps the folder. */
	while ((e = readdir(dir)) != NULL)
		if (e->d_type == DT_REG)
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	(void)rmdir(c->data);
}

int daemon_firststart_certificate(const struct config *c, char *cert, char *key, struct err *reterr)
{
	bool own = c->tls_certificate[0] != '\0' || c->tls_key[0] != '\0';

	if (own && (c->tls_certificate[0] == '\0' || c->tls_key[0] == '\0'))
		return err_raise(reterr, 50021, 16, 1,
				 "The settings tls_certificate and tls_key belong together: give both, or "
				 "neither for a generated pair.");
	if (own) {
		snprintf(cert, PATH_SIZE, "%s", c->tls_certificate);
		snprintf(key, PATH_SIZE, "%s", c->tls_key);
		return 0;
	}
	if (path_in(c, "server.crt", cert, reterr) < 0 || path_in(c, "server.key", key, reterr) < 0)
		return -1;
	return net_tls_make_certificate(cert, key, reterr);
}

static int write_file(const char *path, const char *text, struct err *reterr)
{
	char temp[PATH_SIZE + 8];
	size_t n = strlen(text);
	int fd;
	bool ok;

	snprintf(temp, sizeof(temp), "%s.new", path);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_raise(reterr, 50021, 16, 1, "The file %s cannot be written: %s", path,
				 strerror(errno));
	ok = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
	close(fd);
	if (!ok || rename(temp, path) < 0)
		return err_raise(reterr, 50021, 16, 1, "The file %s cannot be written: %s", path,
				 strerror(errno));
	return 0;
}

int daemon_firststart_address(const struct config *c, const char *address, struct err *reterr)
{
	char path[PATH_SIZE], text[300];

	if (path_in(c, "address", path, reterr) < 0)
		return -1;
	snprintf(text, sizeof(text), "%s\n", address);
	return write_file(path, text, reterr);
}

/* 24 letters and digits that are hard to mistake: 137 bits. */
static int generate_password(char *dst, size_t size, struct err *reterr)
{
	static const char alphabet[] = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	uint8_t random[256];
	size_t n = 0;

	while (n < 24 && n + 1 < size) {
		if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return err_raise(reterr, 50021, 16, 1, "The system gives no random numbers: %s",
					 strerror(errno));
		for (size_t i = 0; i < sizeof(random) && n < 24; i++)
			if (random[i] < 4 * (sizeof(alphabet) - 1))
				dst[n++] = alphabet[random[i] % (sizeof(alphabet) - 1)];
	}
	dst[n] = '\0';
	return 0;
}

/* The first line of the file. */
static int read_password(const char *file, char *dst, size_t size, struct err *reterr)
{
	FILE *f = fopen(file, "re");
	char *line;

	if (f == NULL)
		return err_raise(reterr, 50021, 16, 1,
				 "The file of --sa-password-file, %s, cannot be read: %s", file,
				 strerror(errno));
	line = fgets(dst, (int)size, f);
	fclose(f);
	if (line == NULL)
		return err_raise(
			reterr, 50021, 16, 1,
			"The file of --sa-password-file, %s, is empty. Put the password in its first line.",
			file);
	dst[strcspn(dst, "\r\n")] = '\0';
	return 0;
}

static int add_sa(struct databases *dbs, const char *password, struct err *reterr)
{
	struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar("sa") },
		{ .name = STR("@password"), .value = value_nvarchar(password) },
		{ .name = STR("@admin"), .value = value_int(TYPE_BIT, 1) },
	};

	struct engine_answer a;

	if (engine_ask(databases_system(dbs)->engine, "procession_login_add", args, ARRAY_LEN(args), NULL, &a,
		       reterr) < 0)
		return -1;
	engine_answer_fini(&a);
	return 0;
}

static int generated_sa(const struct config *c, struct databases *dbs, struct err *reterr)
{
	char password[64], path[PATH_SIZE], text[80];
	int rc;

	if (generate_password(password, sizeof(password), reterr) < 0 ||
	    path_in(c, "sa-password", path, reterr) < 0)
		return -1;
	snprintf(text, sizeof(text), "%s\n", password);
	rc = write_file(path, text, reterr);
	if (rc == 0)
		rc = add_sa(dbs, password, reterr);
	explicit_bzero(password, sizeof(password));
	explicit_bzero(text, sizeof(text));
	return rc;
}

static int given_sa(const struct config *c, struct databases *dbs, struct err *reterr)
{
	char password[512];
	int rc = read_password(c->sa_password_file, password, sizeof(password), reterr);

	if (rc == 0)
		rc = add_sa(dbs, password, reterr);
	explicit_bzero(password, sizeof(password));
	return rc;
}

int daemon_firststart_logins(const struct config *c, struct databases *dbs, bool *ret_generated,
			     struct err *reterr)
{
	struct engine_answer a;

	if (engine_ask(databases_system(dbs)->engine, "procession_login_exists", NULL, 0, NULL, &a, reterr) <
	    0)
		return -1;
	engine_answer_fini(&a);
	if (a.status != 0)
		return 0;
	*ret_generated = c->sa_password_file[0] == '\0';
	return *ret_generated ? generated_sa(c, dbs, reterr) : given_sa(c, dbs, reterr);
}

void daemon_firststart_tell(const struct config *c)
{
	char password[64], path[PATH_SIZE];
	struct err e;

	if (path_in(c, "sa-password", path, &e) < 0)
		return;
	if (isatty(STDOUT_FILENO) && read_password(path, password, sizeof(password), &e) == 0) {
		printf("New server in %s: log in as sa with the password %s (kept in %s).\n", c->data,
		       password, path);
		explicit_bzero(password, sizeof(password));
	} else {
		printf("New server in %s: log in as sa with the password in %s.\n", c->data, path);
	}
}
