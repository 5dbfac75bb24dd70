/* poison.h — what the address sanitizer is told. POISON: memory that is kept and not in use;
 * touching it is an error, as if it had been freed. LEAKS: between these two, what this thread has
 * a library allocate may stay until the process ends. */
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
#include <sanitizer/lsan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#define LEAKS_BEGIN() __lsan_disable()
#define LEAKS_END() __lsan_enable()
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define LEAKS_BEGIN() ((void)0)
#define LEAKS_END() ((void)0)
#endif

#endif
