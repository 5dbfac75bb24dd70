/* listen.c — "host:port" to a listening socket, and whether others than this machine reach it. */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "http/http_int.h"

#define BACKLOG 128

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int wrong(const char *text, const char *why, struct err *reterr)
{
	char message[400];

	snprintf(message, sizeof(message), "Cannot listen for HTTP on '%s': %s. http is HOST:PORT.", text,
		 why);
	return err_set(reterr, ERR_START, message);
}

static int resolve(const char *text, struct addrinfo **ret, struct err *reterr)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	const char *colon = strrchr(text, ':');
	char host[256];
	int rc;

	if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof(host))
		return wrong(text, "no port", reterr);
	str_copy(host, sizeof(host), (struct str){ text, (size_t)(colon - text) });
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	rc = getaddrinfo(host, colon + 1, &hints, ret);
	return rc == 0 ? 0 : wrong(text, gai_strerror(rc), reterr);
}

int http_is_loopback(const char *listen, bool *ret, struct err *reterr)
{
	struct addrinfo *list;

	if (resolve(listen, &list, reterr) < 0)
		return -1;
	*ret = is_loopback(list->ai_addr);
	freeaddrinfo(list);
	return 0;
}

static int open_socket(const struct addrinfo *a)
{
	int on = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void name(int fd, bool tls, char *dst, size_t size)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	char host[64] = "", port[8] = "";

	if (getsockname(fd, (struct sockaddr *)(void *)&a, &n) == 0)
		(void)getnameinfo((struct sockaddr *)(void *)&a, n, host, sizeof(host), port, sizeof(port),
				  NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(dst, size, strchr(host, ':') != NULL ? "http%s://[%s]:%s/" : "http%s://%s:%s/",
		 tls ? "s" : "", host, port);
}

int http_listen(const char *text, int *ret_fd, char *ret_address, size_t size, bool *ret_loopback,
		struct err *reterr)
{
	struct addrinfo *list;
	bool loopback;
	int fd;

	if (resolve(text, &list, reterr) < 0)
		return -1;
	loopback = is_loopback(list->ai_addr);
	fd = open_socket(list);
	freeaddrinfo(list);
	if (fd < 0)
		return wrong(text, "the address is in use, or not of this machine", reterr);
	name(fd, !loopback, ret_address, size);
	*ret_fd = fd;
	*ret_loopback = loopback;
	return 0;
}
