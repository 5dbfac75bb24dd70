/* fuzz_http_arguments.c — the body of a change in the dashboard: one JSON object becomes the values
 * of a batch, and what is refused leaves nothing behind. What was read is written as JSON strings
 * and read again. */
#include <string.h>

#include "fuzz.h"
#include "http/json.h"

static void check(const struct http_arguments *a)
{
	HOLDS(a->n <= HTTP_ARGUMENTS);
	for (size_t i = 0; i < a->n; i++) {
		HOLDS(a->values[i].name[0] == '@' && strlen(a->values[i].name) <= 33);
		HOLDS(http_arguments_text(a, a->values[i].name).p != NULL);
		HOLDS(!a->values[i].null || a->values[i].text.n == 0);
	}
}

static void read_again(const struct http_arguments *a)
{
	struct http_arguments again = { .n = 0 };
	struct buf b;

	buf_init(&b, 1 << 22);
	buf_put_u8(&b, '{');
	for (size_t i = 0; i < a->n; i++) {
		if (i > 0)
			buf_put_u8(&b, ',');
		http_json_string(&b, str_of(a->values[i].name + 1));
		buf_put_u8(&b, ':');
		http_json_string(&b, a->values[i].text);
	}
	buf_put_u8(&b, '}');
	HOLDS(!b.failed && http_arguments_read(&again, b.data, b.len) && again.n == a->n);
	for (size_t i = 0; i < a->n; i++)
		HOLDS(str_eq(again.values[i].text, a->values[i].text));
	http_arguments_fini(&again);
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_arguments a = { .n = 0 };

	if (http_arguments_read(&a, data, size)) {
		check(&a);
		read_again(&a);
	}
	http_arguments_fini(&a);
	return 0;
}
