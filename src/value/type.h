/* type.h — SQL types, as T-SQL names them. */
#ifndef VALUE_TYPE_H
#define VALUE_TYPE_H

#include "base/base.h"
#include "base/str.h"

enum type_id {
	TYPE_NULL = 0, /* the untyped NULL of a literal */
	TYPE_BIT,
	TYPE_TINYINT,
	TYPE_SMALLINT,
	TYPE_INT,
	TYPE_BIGINT,
	TYPE_DECIMAL,
	TYPE_NUMERIC,
	TYPE_SMALLMONEY,
	TYPE_MONEY,
	TYPE_REAL,
	TYPE_FLOAT,
	TYPE_CHAR,
	TYPE_VARCHAR,
	TYPE_TEXT,
	TYPE_NCHAR,
	TYPE_NVARCHAR,
	TYPE_NTEXT,
	TYPE_XML,
	TYPE_BINARY,
	TYPE_VARBINARY,
	TYPE_IMAGE,
	TYPE_GUID,
	TYPE_DATE,
	TYPE_TIME,
	TYPE_SMALLDATETIME,
	TYPE_DATETIME,
	TYPE_DATETIME2,
	TYPE_DATETIMEOFFSET,
	/* sql_variant: a value of this declared type carries its own inner type, see value.h */
	TYPE_VARIANT,
	TYPE_COUNT
};

#define TYPE_MAX (-1) /* length of the (max) types, text, ntext, image and xml */

struct type {
	uint8_t id;        /* enum type_id */
	uint8_t precision; /* decimal, numeric */
	uint8_t scale;     /* decimal, numeric: digits; time types: fractional digits 0..7 */
	/* char, binary: bytes; nchar, nvarchar: UTF-16 units; TYPE_MAX; 0 for the others */
	int32_t length;
};

#define TYPE_OF(tid) ((struct type){ (tid), 0, 0, 0 })
#define TYPE_LEN(tid, n) ((struct type){ (tid), 0, 0, (n) })
#define TYPE_NUM(tid, p, s) ((struct type){ (tid), (p), (s), 0 })

/* What is known of a type by its id: one table serves parser, catalogue metadata and codecs. */
struct type_info {
	const char *name;       /* "varchar" */
	uint8_t system_type_id; /* sys.types: 167 … */
	int16_t odbc_type;      /* ODBC 3 DATA_TYPE of the catalogue procedures: 12 … */
	uint8_t sqldbtype;      /* SqlDbType of sp_procedure_params_managed: 22 … */
	uint8_t precedence;     /* T-SQL data type precedence: the higher wins in an expression */
	uint8_t size;           /* bytes of a fixed-size type, else 0 */
	bool has_length, has_precision, has_scale, is_text, is_binary, is_unicode, is_integer, is_exact,
		is_time;
};
const struct type_info *type_info(enum type_id id);

/* The numbers that a bit, an integer or money (× 10⁴) can be. */
struct type_bounds {
	int64_t least, most;
};
struct type_bounds type_bounds(enum type_id id);
static inline bool type_holds(enum type_id id, int64_t i)
{
	struct type_bounds b = type_bounds(id);

	return i >= b.least && i <= b.most;
}

/* By T-SQL name, any case, synonyms included ("integer", "sysname", "national character varying"
 * are the parser's matter only for one-word names: dec, numeric, double, integer, rowversion,
 * sysname …). False: no such type. Sets the defaults of a bare name: varchar → 1 (30 in CAST is
 * the caller's matter), decimal(18,0), datetime2(7), float(53) … */
bool type_by_name(struct str name, struct type *ret);
/* "varbinary(max)", "decimal(18,0)", "nvarchar(256)", "int". Returns dst. */
const char *type_format(const struct type *t, char *dst, size_t size);
/* Largest number of bytes a value can have on the wire; TYPE_MAX for unbounded ones. */
int32_t type_max_bytes(const struct type *t);
static inline bool type_is_max(const struct type *t)
{
	return t->length == TYPE_MAX;
}

#endif
