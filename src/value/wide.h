/* wide.h — 256-bit unsigned arithmetic for the intermediate results of decimals. Private to the
 * folder. */
#ifndef VALUE_WIDE_H
#define VALUE_WIDE_H

#include "base/base.h"

typedef unsigned __int128 u128;

struct wide {
	u128 high, low;
};

static inline struct wide wide_of(u128 v)
{
	return (struct wide){ 0, v };
}
u128 pow10_u128(int n); /* n ≤ 38 */
struct wide wide_mul(u128 a, u128 b);
/* False when the product needs more than 256 bits. */
bool wide_mul_pow10(struct wide a, int n, struct wide *ret);
struct wide wide_add(struct wide a, struct wide b);
struct wide wide_sub(struct wide a, struct wide b); /* a ≥ b */
int wide_compare(struct wide a, struct wide b);
struct wide wide_div(struct wide a, struct wide b, struct wide *ret_rest); /* b ≠ 0 */
/* a ÷ 10ⁿ, half rounded up. */
struct wide wide_round(struct wide a, int n);

#endif
