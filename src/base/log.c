/* log.c — one line of logfmt or JSON per event on stderr, built on the stack and handed on whole
 * (log_out.c), so that lines of different threads never mix. Whatever could end a line or begin
 * a field is escaped here. */
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log_out.h"
#include "base/str.h"
#include "base/utf.h"

#define VALUE_MAX_BYTES 1024 /* a longer value is cut, and ends in … */

static const char *const level_names[] = { "error", "warn", "info", "debug" };

/* global: one log for the process, so that logging needs no handle; so are the next two */
static atomic_int current_level = LOG_INFO;
static atomic_int current_format = LOG_LOGFMT; /* global: of the log */

/* Volume bound. Lines are counted per second of the monotonic clock. */
static struct {
	pthread_mutex_t lock;
	unsigned rate; /* 0: no bound */
	int64_t second;
	unsigned written;
	unsigned long left_out;
} volume = { .lock = PTHREAD_MUTEX_INITIALIZER }; /* global: of the log */

struct line {
	char text[LOG_LINE_MAX];
	size_t n;
	bool json; /* as the format was when it began */
	bool full; /* something did not fit */
};

void log_set_level(enum log_level level)
{
	atomic_store(&current_level, (int)level);
}

void log_set_format(enum log_format format)
{
	atomic_store(&current_format, (int)format);
}

bool log_enabled(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

bool log_parse_level(const char *name, enum log_level *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (str_eq_nocase(str_of(name), str_of(level_names[i]))) {
			*ret = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void log_set_rate(unsigned lines_per_second)
{
	pthread_mutex_lock(&volume.lock);
	volume.rate = lines_per_second;
	volume.written = 0;
	pthread_mutex_unlock(&volume.lock);
}

/* May one more line go out? *ret_left_out: lines dropped in earlier seconds that nobody was told
 * of yet. */
static bool volume_admits(unsigned long *ret_left_out)
{
	int64_t second = clock_mono_ms() / 1000;
	bool admitted = true;

	*ret_left_out = 0;
	pthread_mutex_lock(&volume.lock);
	if (volume.rate != 0) {
		if (second != volume.second) {
			volume.second = second;
			volume.written = 0;
		}
		if (volume.written >= volume.rate) {
			volume.left_out++;
			admitted = false;
		} else {
			volume.written++;
		}
	}
	if (admitted) {
		*ret_left_out = volume.left_out;
		volume.left_out = 0;
	}
	pthread_mutex_unlock(&volume.lock);
	return admitted;
}

/* Two bytes are kept for the line's end. */
static void line_put(struct line *l, const char *p, size_t n)
{
	size_t left = sizeof(l->text) - 2 - l->n;

	if (n > left) {
		n = left;
		l->full = true;
	}
	memcpy(l->text + l->n, p, n);
	l->n += n;
}

static void line_put_str(struct line *l, const char *s)
{
	line_put(l, s, strlen(s));
}

/* Length of the character at s if it can stand in a line as it is; 0 if it must be escaped:
 * controls, broken UTF-8, and the characters that some terminals take for a line's end or that
 * turn the direction of text. */
static size_t plain_char(const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];
	size_t len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	if (c < 0x20 || c == 0x7F || c == '"' || c == '\\')
		return 0;
	if (len > n || !utf8_valid(s, len, false))
		return 0;
	if (c == 0xC2 && (unsigned char)s[1] < 0xA0)
		return 0;
	if (c == 0xE2 && (unsigned char)s[1] == 0x80 && (unsigned char)s[2] >= 0xA8 &&
	    (unsigned char)s[2] <= 0xAE)
		return 0;
	return len;
}

static void line_put_escaped(struct line *l, char c)
{
	char hex[8];

	switch (c) {
	case '"': line_put_str(l, "\\\""); break;
	case '\\': line_put_str(l, "\\\\"); break;
	case '\n': line_put_str(l, "\\n"); break;
	case '\r': line_put_str(l, "\\r"); break;
	case '\t': line_put_str(l, "\\t"); break;
	default:
		/* a byte that is no character is none in JSON either: the replacement character */
		if (l->json && (unsigned char)c >= 0x80)
			line_put_str(l, "\\ufffd");
		else if (snprintf(hex, sizeof(hex), l->json ? "\\u%04x" : "\\x%02x", (unsigned char)c) > 0)
			line_put_str(l, hex);
	}
}

static bool needs_quotes(const char *s, size_t n)
{
	if (n == 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\')
			return true;
	}
	return false;
}

static void line_put_value(struct line *l, const char *s)
{
	size_t n = strnlen(s, VALUE_MAX_BYTES + 1);
	bool cut = n > VALUE_MAX_BYTES;

	if (!l->json && !needs_quotes(s, n) && !cut) {
		line_put(l, s, n);
		return;
	}
	if (cut)
		n = VALUE_MAX_BYTES;
	line_put(l, "\"", 1);
	for (size_t i = 0; i < n;) {
		size_t len = plain_char(s + i, n - i);

		if (len == 0)
			line_put_escaped(l, s[i++]);
		else
			line_put(l, s + i, len);
		i += len;
	}
	line_put_str(l, cut ? "…\"" : "\"");
}

static void line_put_key(struct line *l, const char *key)
{
	line_put_str(l, l->json ? ",\"" : " ");
	line_put_str(l, key);
	line_put_str(l, l->json ? "\":" : "=");
}

/* An object that is cut is none: a field that does not fit is left out as a whole. */
static void line_end_field(struct line *l, size_t began)
{
	if (l->json && l->full)
		l->n = began;
	l->full = false;
}

static void line_put_text(struct line *l, const char *key, const char *value)
{
	size_t began = l->n;

	if (value == NULL || value[0] == '\0')
		return;
	line_put_key(l, key);
	line_put_value(l, value);
	line_end_field(l, began);
}

static void line_put_number(struct line *l, const char *key, long long number)
{
	size_t began = l->n;
	char digits[24];

	line_put_key(l, key);
	snprintf(digits, sizeof(digits), "%lld", number);
	line_put_str(l, digits);
	line_end_field(l, began);
}

static void line_begin(struct line *l, enum log_level level, const char *event)
{
	int64_t us = clock_unix_us();
	time_t seconds = (time_t)(us / 1000000);
	struct tm tm;
	char stamp[64];

	l->n = 0;
	l->json = atomic_load_explicit(&current_format, memory_order_relaxed) == LOG_JSON;
	l->full = false;
	gmtime_r(&seconds, &tm);
	snprintf(stamp, sizeof(stamp), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(us % 1000000 / 1000));
	line_put_str(l, l->json ? "{\"time\":\"" : "time=");
	line_put_str(l, stamp);
	line_put_str(l, l->json ? "\"" : "");
	line_put_text(l, "level", level_names[level]);
	line_put_text(l, "event", event);
}

static void line_end(struct line *l)
{
	if (l->json)
		l->text[l->n++] = '}';
	l->text[l->n++] = '\n';
}

static void line_write(struct line *l)
{
	line_end(l);
	log_out(l->text, l->n);
}

size_t log_line_dropped(char *dst, unsigned long lines)
{
	struct line l;

	line_begin(&l, LOG_WARN, "log_lines_dropped");
	line_put_number(&l, "lines", (long long)lines);
	line_put_text(&l, "why", "standard error was not read for so long that the lines could not be kept");
	line_end(&l);
	memcpy(dst, l.text, l.n);
	return l.n;
}

void log_write(enum log_level level, const struct log_ctx *ctx, const char *event,
	       const struct log_field *fields, size_t n)
{
	struct line l;
	unsigned long left_out;

	if (!log_enabled(level) || !volume_admits(&left_out))
		return;
	if (left_out != 0) {
		line_begin(&l, LOG_WARN, "log_lines_left_out");
		line_put_number(&l, "lines", (long long)left_out);
		line_write(&l);
	}
	line_begin(&l, level, event);
	if (ctx != NULL) {
		if (ctx->session != 0)
			line_put_number(&l, "session", ctx->session);
		line_put_text(&l, "peer", ctx->peer);
		line_put_text(&l, "login", ctx->login);
		line_put_text(&l, "database", ctx->database);
	}
	for (size_t i = 0; i < n; i++) {
		if (fields[i].value == NULL)
			line_put_number(&l, fields[i].key, fields[i].number);
		else
			line_put_text(&l, fields[i].key, fields[i].value);
	}
	line_write(&l);
}
