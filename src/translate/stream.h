/* stream.h — marked text as Apertium's programs read and write it: special characters escaped,
 * pairs as word-bound blanks [[1]]…[[/]], which stick to their words when these move, marks that
 * stand alone as blanks [1]. See https://wiki.apertium.org/wiki/Apertium_stream_format. */
#ifndef TRANSLATE_STREAM_H
#define TRANSLATE_STREAM_H

#include "translate/marked.h"

/* Appends one segment as a block that ends with NUL: programs of the pipeline hand on what they
 * have when they read it. */
void translate_stream_put(struct buf *b, struct str marked);
/* The text alone, nested pairs and all, its marks by the names that tf-extract gave them, as
 * translate_block_get collected them. */
void translate_stream_put_named(struct buf *b, struct str marked, const struct buf *names);
/* Reads the answer (without its NUL) as a translation of the source. -1: that is not what a
 * pipeline answers to it. */
MUST_CHECK int translate_stream_get(struct str answer, struct str source, struct buf *out);

/* A block that tf-extract made: its text, between what stays as it is, as a marked text. Names of
 * marks go into names, each ended by NUL, the first being mark 1. False: it has no text (the first
 * block, which names the folder). */
MUST_CHECK bool translate_block_get(struct str block, struct buf *out, struct buf *names);
/* The same block with another text, as tf-inject wants it. */
void translate_block_put(struct buf *b, struct str block, struct str marked, const struct buf *names);

#endif
