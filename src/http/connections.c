/* connections.c — a request has a time to arrive as a whole, however slowly its bytes trickle:
 * libmicrohttpd only knows a limit of silence. Whoever is over it is shut down; the library then
 * sees the end of the stream, and closes. */
#include <stdlib.h>

#include <sys/socket.h>

#include "base/clock.h"
#include "http/http_int.h"

struct http_connection {
	struct list link;
	int fd;
	int64_t reads_since_ms; /* under the lock; 0: its request is complete */
};

static int fd_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return i == NULL ? -1 : i->connect_fd;
}

/* The library closes the socket after it has told us: the number is this connection's
 * until then. */
void http_connection_changed(void *arg, struct MHD_Connection *c, void **context,
			     enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	struct http_connections *all = &h->connections;
	struct http_connection *own = *context;
	bool first;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		own = calloc(1, sizeof(*own));
		if (own == NULL)
			return;
		own->fd = fd_of(c);
		own->reads_since_ms = clock_mono_ms();
		lock_take(&all->lock);
		list_append(&all->all, &own->link);
		first = !h->reaping;
		h->reaping = true;
		lock_give(&all->lock);
		if (first)
			http_reap_soon(h);
		*context = own;
	} else if (own != NULL) {
		lock_take(&all->lock);
		list_remove(&own->link);
		lock_give(&all->lock);
		free(own);
		*context = NULL;
	}
}

void http_connection_reads(struct MHD_Connection *c, struct http_connections *all, bool reading)
{
	const union MHD_ConnectionInfo *i = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_connection *own = i == NULL ? NULL : i->socket_context;

	if (own == NULL)
		return;
	lock_take(&all->lock);
	own->reads_since_ms = reading ? clock_mono_ms() : 0;
	lock_give(&all->lock);
}

bool http_connections_check(struct http_connections *all, bool *reaping)
{
	int64_t now = clock_mono_ms();
	bool some = false;

	lock_take(&all->lock);
	LIST_EACH (it, &all->all) {
		struct http_connection *c = CONTAINER_OF(it, struct http_connection, link);

		some = true;
		if (c->reads_since_ms != 0 && now - c->reads_since_ms > HTTP_REQUEST_MS && c->fd >= 0) {
			(void)shutdown(c->fd, SHUT_RDWR);
			c->reads_since_ms = 0;
		}
	}
	*reaping = some;
	lock_give(&all->lock);
	return some;
}
