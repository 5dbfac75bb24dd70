/* engine_int.h — the engine and its programs, for engine.c, program.c and fonts.c. */
#ifndef CONVERT_ENGINE_INT_H
#define CONVERT_ENGINE_INT_H

#include "convert/convert.h"
#include "convert/wire.h"
#include "jail/jail.h"

/* One procession-converter. */
struct convert_program {
	bool used, ready, retiring;
	struct jail_process process;
	int socket;
	char folder[64];          /* without a jail: its folder in /tmp */
	int errors;               /* what it wrote to standard error, in memory */
	unsigned running, served; /* documents */
	char said_why[512];       /* why it cannot begin */
};

enum convert_flight_state { CONVERT_FLIGHT_FREE, CONVERT_FLIGHT_RUNS, CONVERT_FLIGHT_DONE };

/* A document on its way, and then its result until somebody takes it. */
struct convert_flight {
	enum convert_flight_state state;
	uint64_t id;
	int input, output;
	int64_t started, deadline; /* ms, monotonic */
	struct convert_program *program;
	struct document_result result;
};

struct convert_engine {
	struct convert_options options;
	char *office, *program; /* owned */
	char language[CONVERT_LANGUAGE_MAX];
	unsigned slots;
	struct convert_program programs[4];
	struct convert_flight flights[CONVERT_SLOTS_MAX];
	int epoll, timer, wake;
	unsigned stillborn; /* programs in a row that ended before they were ready */
	char why[512];      /* the last of them */
	uint64_t fonts;
	int64_t fonts_looked;
};

/* Starts one and greets it; it answers when it is ready. */
MUST_CHECK int convert_program_start(struct convert_program *p, const struct convert_engine *e,
				     struct err *reterr);
/* Of one that has ended: gives back what it took. */
void convert_program_close(struct convert_program *p);
/* A request with two descriptors, or without (-1). To one that has died it is lost, and its
 * socket says so. */
void convert_program_send(struct convert_program *p, const struct convert_request *r, int input, int output);
/* The end of what it wrote to standard error. */
void convert_program_last_words(const struct convert_program *p, char *ret, size_t size);

/* Another number when a folder of fonts has changed. */
uint64_t convert_fonts_stamp(void);

#endif
