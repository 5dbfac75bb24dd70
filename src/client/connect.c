/* connect.c — opening a connection. The library reads encryption, certificate and protocol
 * version from a configuration file only; ours is made in memory for each connection, so that no
 * freetds.conf of the machine can change what our programs do. */
#include "client/client_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

static const char section[] = "procession-server";

const char *client_default_encryption(const char *host)
{
	static const char *const here[] = { "127.0.0.1", "::1", "localhost" };

	for (size_t i = 0; i < ARRAY_LEN(here); i++)
		if (str_eq_nocase(str_of(host), str_of(here[i])))
			return "request";
	return "require";
}

/* A value may not end its line and begin another setting. */
static bool is_clean(const char *s)
{
	if (s == NULL)
		return true;
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7F)
			return false;
	return true;
}

static int write_configuration(const struct client_options *o, int *ret, struct err *reterr)
{
	const char *encryption = o->encryption != NULL ? o->encryption : client_default_encryption(o->host);
	int fd = memfd_create("procession-freetds", MFD_CLOEXEC);
	int n;

	if (fd < 0)
		return err_nomem(reterr);
	n = dprintf(fd,
		    "[%s]\n\thost = %s\n\tport = %u\n\ttds version = 7.4\n\tclient charset = "
		    "UTF-8\n\tencryption = %s\n",
		    section, o->host, o->port, encryption);
	if (n > 0 && o->ca_file != NULL)
		n = dprintf(fd, "\tca file = %s\n\tcheck certificate hostname = yes\n", o->ca_file);
	if (n < 0) {
		close(fd);
		return err_nomem(reterr);
	}
	*ret = fd;
	return 0;
}

static int check_options(const struct client_options *o, struct err *reterr)
{
	if (o->host == NULL || o->host[0] == '\0' || strchr(o->host, ' ') != NULL || !is_clean(o->host) ||
	    !is_clean(o->ca_file))
		return err_raise(reterr, 50000, 16, 1, "the server's name is not valid");
	if (o->port == 0 || o->port > 65535)
		return err_raise(reterr, 50000, 16, 1,
				 "the port %u is not valid; it is a number from 1 to 65535", o->port);
	if (o->login == NULL || o->login[0] == '\0' || o->password == NULL)
		return err_raise(reterr, 50000, 16, 1, "a login and a password are needed");
	/* db-lib keeps names in 30 characters of old; longer ones would be cut without a word. */
	if (strlen(o->password) > 128 || strlen(o->login) > 128)
		return err_raise(reterr, 50000, 16, 1, "login and password have at most 128 bytes");
	return 0;
}

static LOGINREC *make_login(const struct client_options *o)
{
	LOGINREC *l = dblogin();

	if (l == NULL)
		return NULL;
	if (DBSETLUSER(l, o->login) == FAIL || DBSETLPWD(l, o->password) == FAIL ||
	    DBSETLAPP(l, o->application != NULL ? o->application : "procession") == FAIL ||
	    DBSETLCHARSET(l, "UTF-8") == FAIL || DBSETLVERSION(l, DBVERSION_74) == FAIL ||
	    (o->database != NULL && DBSETLDBNAME(l, o->database) == FAIL)) {
		dbloginfree(l);
		return NULL;
	}
	return l;
}

/* Opens with the configuration at fd. */
static int open_with(struct client *c, const struct client_options *o, int fd, struct err *reterr)
{
	char path[64];
	struct report report;
	LOGINREC *l;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	client_report_begin(&report, NULL);
	dbsetifile(path);
	dbsetlogintime(o->login_timeout_s != 0 ? (int)o->login_timeout_s : 15);
	dbsettime((int)o->call_timeout_s);
	l = make_login(o);
	if (l != NULL) {
		c->db = dbopen(l, section);
		dbloginfree(l);
	}
	return client_report_end(&report, c->db == NULL, c->address, reterr);
}

int client_open(const struct client_options *o, struct client **ret, struct err *reterr)
{
	struct client *c;
	int fd = -1, rc;

	if (check_options(o, reterr) < 0 || client_report_init(reterr) < 0)
		return -1;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return err_nomem(reterr);
	snprintf(c->address, sizeof(c->address), strchr(o->host, ':') != NULL ? "[%s]:%u" : "%s:%u", o->host,
		 o->port);
	rc = write_configuration(o, &fd, reterr);
	if (rc == 0) {
		rc = open_with(c, o, fd, reterr);
		close(fd);
	}
	if (rc < 0) {
		client_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

void client_close(struct client *c)
{
	if (c == NULL)
		return;
	if (c->db != NULL)
		dbclose(c->db);
	free(c);
}
