/*
 * memory: how much a long-running process keeps of what it has freed.
 */
#ifndef ROWRELAY_COMMON_MEMORY_H
#define ROWRELAY_COMMON_MEMORY_H

/* To be called once, at the start: large blocks go back to the system as soon as they are freed. */
void memory_keep_little(void);

/*
 * Gives back to the system what is free between blocks in use, of all threads: each has an area of its own, and the
 * others cannot use what lies free there. Takes about a millisecond.
 */
void memory_give_back(void);

#endif
