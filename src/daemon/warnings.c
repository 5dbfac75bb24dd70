/* warnings.c — see warnings.h. */
#include "daemon/warnings.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define DAY 86400
#define SOON (30 * DAY)

static void tell_open(const char *event, const char *path, mode_t mode, const char *remedy)
{
	char text[8];

	snprintf(text, sizeof(text), "%04o", (unsigned)(mode & 07777));
	LOG(LOG_WARN, NULL, event, F_STR("path", path), F_STR("mode", text), F_STR("remedy", remedy));
}

/* A file of root's may be readable for a group (/etc/ssl/private and the like); one of our own
 * for nobody else. */
static void check_secret(const char *event, const char *path)
{
	struct stat st;

	if (path[0] == '\0' || stat(path, &st) < 0)
		return;
	if ((st.st_mode & (st.st_uid == 0 && geteuid() != 0 ? 027 : 077)) != 0)
		tell_open(event, path, st.st_mode,
			  "others can read or change it: take their rights away (chmod 600), and replace the "
			  "secret if they may have read it");
}

void daemon_warnings_key(const char *key_file)
{
	check_secret("key_file_open", key_file);
}

void daemon_warnings_files(const struct config *c)
{
	struct stat st;

	if (stat(c->data, &st) == 0 && (st.st_mode & 077) != 0)
		tell_open("data_folder_open", c->data, st.st_mode, "others can look into it: chmod 700");
	check_secret("password_file_open", c->sa_password_file);
	check_secret("password_file_open", c->ntlm_user_file);
	check_secret("keytab_open", c->keytab);
}

static void day_of(int64_t seconds, char dst[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL || strftime(dst, 32, "%Y-%m-%d", &tm) == 0)
		dst[0] = '\0';
}

void daemon_warnings_certificate(const struct net_tls_ctx *tls, int64_t now)
{
	int64_t from, until;
	char day[32];

	if (tls == NULL)
		return;
	net_tls_ctx_validity(tls, &from, &until);
	day_of(from > now ? from : until, day);
	if (from > now)
		LOG(LOG_WARN, NULL, "certificate_not_valid_yet", F_STR("from", day),
		    F_STR("remedy", "check the clock of this machine, or give another certificate; clients "
				    "that verify it refuse to connect"));
	else if (until <= now)
		LOG(LOG_WARN, NULL, "certificate_expired", F_STR("until", day),
		    F_STR("remedy", "replace it and its key (tls_certificate, tls_key; or remove the "
				    "generated DIR/server.crt and DIR/server.key) and send SIGHUP; clients "
				    "that verify it refuse to connect"));
	else if (until - now < SOON)
		LOG(LOG_WARN, NULL, "certificate_expires", F_STR("until", day),
		    F_INT("days", (until - now) / DAY),
		    F_STR("remedy", "replace it and its key, then send SIGHUP"));
}
