/* convert.h — T-SQL's conversions between types, with its rules and error numbers. */
#ifndef VALUE_CONVERT_H
#define VALUE_CONVERT_H

#include "value/value.h"

/* The rules differ with the place:
 *  ARGUMENT a procedure's argument becomes its parameter: 8114 whatever the reason [E-COM-01],
 *  8152 when text or binary is longer than
 *            declared (trailing spaces beyond the size are dropped, [E-COM-07]), 50004 when
 *            varchar's code page lacks a character.
 *            Clarification 11 of errata.md says which texts become numbers, bits, GUIDs and
 *            dates.
 *  ASSIGN SET @v = …, DECLARE @v = …: 245, 241, 8169, 8115, 220, 206, 257; text is cut silently
 *  as T-SQL does.
 *  CAST CAST and CONVERT: as ASSIGN, plus what only explicit conversion may do (529 where even
 *  that is not allowed).
 *  OUTPUT into the client's own type of an OUTPUT parameter: text is cut, numbers that do not
 *  fit are 8114 state 2. */
enum convert_mode { CONVERT_ARGUMENT, CONVERT_ASSIGN, CONVERT_CAST, CONVERT_OUTPUT };

/* ret may be v itself. Text and bytes of the result live in the arena or where v's live. NULL
 * converts to NULL of the new type, whatever the types. what: the name of the parameter or
 * variable for messages ("@id"), or NULL. */
MUST_CHECK int value_convert(const struct value *v, const struct type *to, enum convert_mode mode,
			     const char *what, struct arena *a, struct value *ret, struct err *reterr);
/* CONVERT(type, v, style): styles for dates (0, 1, 3, 4, 20, 21, 100 … 127, 130 not needed),
 * binary (0, 1, 2), money, float. 281 for an unknown one. */
MUST_CHECK int value_convert_style(const struct value *v, const struct type *to, int style, struct arena *a,
				   struct value *ret, struct err *reterr);
/* v as text, the way PRINT and implicit conversion to nvarchar show it. */
MUST_CHECK int value_to_text(const struct value *v, struct arena *a, struct str *ret, struct err *reterr);

#endif
