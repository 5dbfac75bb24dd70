/* words.c — what is the same in every dialect that there is an emitter for. */
#include "query/emit.h"

struct str query_join_word(enum join_kind kind)
{
	switch (kind) {
	case JOIN_FIRST: return STR(" FROM ");
	case JOIN_LEFT: return STR(" LEFT JOIN ");
	case JOIN_RIGHT: return STR(" RIGHT JOIN ");
	case JOIN_FULL: return STR(" FULL JOIN ");
	default: return STR(" JOIN ");
	}
}

struct str query_comparison_sign(uint8_t op)
{
	switch (op) {
	case CMP_EQ: return STR(" = ");
	case CMP_NE: return STR(" <> ");
	case CMP_LT: return STR(" < ");
	case CMP_LE: return STR(" <= ");
	case CMP_GT: return STR(" > ");
	default: return STR(" >= ");
	}
}

struct str query_without_blanks(struct str s)
{
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

bool query_is_text_constant(const struct query_node *n)
{
	return n->kind == NODE_VALUE && !n->value.null && type_info(n->value.type.id)->is_text;
}

int64_t query_ticks_of(enum datepart part)
{
	switch (part) {
	case PART_WEEK: return INT64_C(7) * 86400 * 300;
	case PART_HOUR: return 3600 * 300;
	case PART_MINUTE: return 60 * 300;
	case PART_SECOND: return 300;
	default: return INT64_C(86400) * 300;
	}
}
