/* fuzz.h — the one function of a fuzz target, called by libFuzzer or by replay_main.c. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold whatever the bytes are; stays when assert() is compiled away. */
#define HOLDS(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #x); \
			abort(); \
		} \
	} while (0)

#endif
