/* xlsx.h — spreadsheets (Office Open XML): the texts of cells and comments are segments, runs of
 * their formatting are marks. Formulas, numbers, names of sheets, and names of columns of tables,
 * which the program compares with their cells, stay as they are. */
#ifndef TRANSLATE_XLSX_H
#define TRANSLATE_XLSX_H

#include "base/buf.h"
#include "base/str.h"
#include "translate/failure.h"

struct translate_xlsx;

/* The file must stay in memory until it is freed. */
MUST_CHECK int translate_xlsx_read(struct str file, struct translate_xlsx **ret, struct translate_failure *f);
void translate_xlsx_free(struct translate_xlsx *x);
size_t translate_xlsx_count(const struct translate_xlsx *x);
struct str translate_xlsx_source(const struct translate_xlsx *x, size_t i);
MUST_CHECK int translate_xlsx_set_target(struct translate_xlsx *x, size_t i, struct str marked,
					 struct translate_failure *f);
/* The whole file, once. */
MUST_CHECK int translate_xlsx_write(struct translate_xlsx *x, struct buf *out, struct translate_failure *f);

#endif
