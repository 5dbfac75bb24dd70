/* program_sanitizer.c — what the programs of this folder tell the sanitizers that they are built
 * with, if any: there is no /proc in the jail to look for leaks, and the environment has no
 * options. */
#ifdef __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#else
typedef int no_empty_file;
#endif
