#include "common/memory.h"

#include <stdlib.h> /* which says whether this is glibc */

#ifdef __GLIBC__
#include <malloc.h>
#endif

/* By default glibc raises these limits with the size of freed blocks, and keeps as much for each thread. */
void memory_keep_little(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

void memory_give_back(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
