/* route.c — what is where, and on which thread it is answered. */
#include <string.h>

#include "http/http_int.h"

static const struct http_route routes[] = {
	{ "GET", "/healthz", http_health_alive, ROUTE_NOW },
	{ "GET", "/readyz", http_health_ready, ROUTE_PROBE },
	{ "GET", "/metrics", http_metrics, ROUTE_SCRAPE },
	{ "POST", "/api/login", http_login, ROUTE_LOGIN },
	{ "POST", "/api/logout", http_logout, ROUTE_WORK },
	{ "GET", "/api/me", http_me, ROUTE_WORK },
	{ "GET", "/api/events", http_events, ROUTE_WORK },
	{ "GET", "/api/*", http_api_get, ROUTE_WORK },
	{ "POST", "/api/*", http_api_post, ROUTE_WORK },
	{ "GET", "/*", http_file, ROUTE_NOW },
};

static bool fits(const struct http_route *r, const char *path)
{
	size_t n = strlen(r->path);

	return strcmp(r->path, path) == 0 || (r->path[n - 1] == '*' && strncmp(r->path, path, n - 1) == 0);
}

const struct http_route *http_route_find(const char *method, const char *path, bool *ret_known)
{
	*ret_known = false;
	if (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0)
		method = MHD_HTTP_METHOD_GET; /* the library leaves the body out */
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if (!fits(&routes[i], path))
			continue;
		*ret_known = true;
		if (strcmp(routes[i].method, method) == 0)
			return &routes[i];
	}
	return NULL;
}
