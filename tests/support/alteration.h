/*
 * alteration: what is done to the tables of a story (nasty.h) in its midst: columns, partitions, children, indexes and
 * triggers come and go, and tables are captured with other options, or released and captured again.
 *
 * What triggers/README.md does not promise is left out: that a partition that comes or goes has rows; that nothing is
 * lost between the creation of a child, or a trigger of rowrelay's that is disabled, and maintenance; that a key stays
 * unique without its index.
 */
#ifndef ROWRELAY_TESTS_ALTERATION_H
#define ROWRELAY_TESTS_ALTERATION_H

#include "author.h"

/* Gives table t a column that will be altered; no view and no trigger names it. */
void alteration_prepare(struct author *author, int t);
/* A statement that captures table t. */
void alteration_capture(struct author *author, int t, char *text, size_t size);
void alteration_add(struct author *author);
/* Gives a column of a table, most often of a plain one, another name, or the former one, and writes to the table. A
 * trigger function names it, because its values may be large; statements that name it fail from then on. */
void alteration_of_text(struct author *author, int t);

#endif
