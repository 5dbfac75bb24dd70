/* poison.h — for memory that is kept and not in use: under the address sanitizer touching it is
 * an error, as if it had been freed. */
#ifndef BASE_POISON_H
#define BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_POISON 1
#endif
#endif

#ifdef HAVE_POISON
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#endif
