/* harness.h — what the driver programs in C share: a function a feature, one JSON line a result. */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char note[2000];

#define CHECK(cond, ...) \
	do { \
		if (!(cond)) { \
			int n_ = snprintf(note, sizeof(note), "%s:%d: ", __func__, __LINE__); \
			snprintf(note + n_, sizeof(note) - (size_t)n_, "" __VA_ARGS__); \
			return false; \
		} \
	} while (0)

static inline const char *setting(const char *name)
{
	const char *v = getenv(name);

	if (v == NULL) {
		fprintf(stderr, "%s is not set\n", name);
		exit(2);
	}
	return v;
}

/* A key that no other test uses; two buffers take turns. */
static inline const char *fresh_key(const char *name)
{
	static char keys[8][128];
	static unsigned n;
	char *k = keys[n++ % 8];

	snprintf(k, sizeof(keys[0]), "%s-%s-%u", name, setting("PT_PREFIX"), n);
	return k;
}

struct feature {
	const char *name;
	bool (*run)(void);
};

static inline void print_json(const char *s)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
}

static inline int run_features(const struct feature *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool ok;

		note[0] = '\0';
		ok = f[i].run();
		printf("{\"feature\": \"%s\", \"ok\": %s, \"note\": \"", f[i].name, ok ? "true" : "false");
		print_json(note);
		printf("\"}\n");
		fflush(stdout);
	}
	return 0;
}

static inline double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
