/* convert.h — the engine that converts documents: LibreOffice, initialised once in a jail, that
 * forks a process for each document (the program procession-converter). See document/engine.h
 * for what an engine is. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "document/engine.h"

/* 0 and NULL: the default. */
struct convert_options {
	/* documents at once; default: the processors of the machine */
	unsigned slots;
	/* documents can read what this user can read: not for documents of strangers */
	bool jail_off;
	unsigned seconds;      /* time limit of a document that has none of its own; 300 */
	unsigned renew_after;  /* documents; then a new LibreOffice takes over; 1,000 */
	uint64_t memory;       /* address space of a document's process; 4 GiB */
	uint64_t output_max;   /* bytes; 512 MiB */
	uint64_t unpacked_max; /* bytes that a package may unpack to; 1 GiB */
	const char *office;    /* LibreOffice's folder; /usr/lib/libreoffice */
	/* procession-converter; default: looked for, see convert_find_program() */
	const char *program;
};

/* Starts LibreOffice and comes back at once; documents may be submitted from then on. Must be
 * called by a thread that lives as long as the engine. -1: LibreOffice or the program is not
 * there, or a jail cannot be had; reterr says what to do. */
MUST_CHECK int convert_start(const struct convert_options *options, struct document_engine *ret,
			     struct err *reterr);

/* The path of procession-converter: in the folder PROCESSION_LIBEXEC (environment), beside this
 * program, or in the folder libexec/procession beside this program's folder. */
MUST_CHECK int convert_find_program(char *ret, size_t size, struct err *reterr);

#endif
