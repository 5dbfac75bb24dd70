/* metrics.c — /metrics, as Prometheus reads it. */
#include "http/http_int.h"
#include "metrics/snapshot.h"

#define TEXT_MOST ((size_t)16 << 20)

void http_metrics(struct http_request *r)
{
	struct buf b;
	struct err e;

	if (r->http->tls) {
		http_answer_text(r, MHD_HTTP_FORBIDDEN, "Metrics are for this machine only.\n");
		return;
	}
	buf_init(&b, TEXT_MOST);
	if (metrics_prometheus(r->http->server->metrics, &b, &e) < 0) {
		buf_fini(&b);
		http_answer_text(r, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "There is no memory for the numbers now.\n");
		return;
	}
	http_answer_buf(r, MHD_HTTP_OK, METRICS_PROMETHEUS_TYPE, &b);
}
