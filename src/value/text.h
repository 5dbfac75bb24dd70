/* text.h — what T-SQL's functions of text compute, for the evaluator (tsql/eval/fn_text.c) and
 * for the store, which computes over rows (engine/sqlite/store/tsql.c). Lengths and positions count
 * UTF-16 code units; a text may contain any character, U+0000 too. */
#ifndef VALUE_TEXT_H
#define VALUE_TEXT_H

#include "base/meter.h"
#include "base/str.h"

/* The first what (not empty) in where, from byte from on. Linear. 1 and *ret_at, 0: not there,
 * -1: given up. */
MUST_CHECK int text_find(struct str where, size_t from, struct str what, struct meter *m, size_t *ret_at);

/* Every what (not empty) in s replaced. searched is s, or s in lower case: what is compared,
 * while s is what is copied. dst NULL: only *ret_n, how long it becomes. 0, or -1: given up. */
MUST_CHECK int text_replace(struct str s, struct str searched, struct str what, struct str with,
			    struct meter *m, char *dst, size_t *ret_n);

/* A copy (of s.n bytes) with the letters of ASCII in lower case: what is searched without case. */
void text_fold(struct str s, char *dst);
/* UPPER and LOWER (s.n bytes): ASCII and the letters of Latin-1. */
void text_change_case(struct str s, bool upper, char *dst);

struct str text_trim(struct str s, bool left, bool right);
/* LEN: trailing blanks do not count. */
size_t text_length(struct str s);
/* SUBSTRING: at most n (not negative) units from start (1 is the first) on. What lies before the
 * text counts, but is nothing. No character is torn. */
struct str text_part(struct str s, int64_t start, int64_t n);
/* RIGHT: the last n (not negative) units. */
struct str text_right(struct str s, int64_t n);

#endif
