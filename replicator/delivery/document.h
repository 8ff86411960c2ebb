/*
 * document: what a query builds from several tables, and how changes of those become documents to push.
 *
 * A document is a target of its own, with lanes by its own keys. A claim gives changes of any of its tables, each with
 * the keys of documents that it makes stale (see claim_documents.sql). Here each key becomes one change to be pushed,
 * and just before the push the query is run for all of them: what it gives is an upsert of that row, and a key for
 * which it gives nothing is a delete. So targets see nothing but changes.
 *
 * What is pushed is never older than what was there: whoever builds a document holds the lock of the lane with its key,
 * and reads after he got it.
 */
#ifndef ROWRELAY_DELIVERY_DOCUMENT_H
#define ROWRELAY_DELIVERY_DOCUMENT_H

#include <jansson.h>

#include "common/buffer.h"
#include "queue/outcome.h"
#include "source/change.h"
#include "source/settings.h"
#include "source/source.h"
#include "targets/target.h"

struct document {
  PGresult *definition; /* owns the texts */
  int target;
  struct query build;
  char build_name[STATEMENT_NAME_SIZE];
  const char *key_name; /* as a JSON string */
  const char *search_path;
  size_t keys_at_once; /* how many keys the query is run for: so many as give neither too much nor take too long */
};

/* The documents that a claim makes stale, as changes to be pushed: in order of their keys, which are not built yet. */
struct stale {
  struct batch batch;
  json_t *keys;            /* what the changes' keys are in */
  struct buffer asks_ids;  /* array literals, open at their ends: changes whose documents a query finds, */
  struct buffer asks_days; /* and their days */
  bool all;                /* every document may be stale */
};

void document_init(struct document *document);
void document_release(struct document *document);

/*
 * Reads the reply to document_definition.sql, and owns it then. `source` is where it will be built; what was read for
 * another connection must be released before.
 */
MUST_CHECK bool document_read(struct document *document, PGresult *reply, int target, struct source *source,
                              struct error *error);

void stale_init(struct stale *stale);
void stale_release(struct stale *stale);

/* Fills `stale`, which is empty, with what the claimed batch makes stale; its texts are borrowed from there. */
MUST_CHECK bool document_collect(const struct settings *settings, const struct batch *claimed, struct stale *stale,
                                 struct error *error);

/* Who builds a document: where it is read, and where it goes. All is borrowed. */
struct builder {
  struct document *document;
  struct source *source;
  const struct settings *settings;
  struct target *target;
};

/*
 * Builds the documents of a push's changes, which are of a stale batch, and pushes them. All are delivered, or it can
 * be done again. FAILURE_REFUSED: some of the documents are at fault.
 */
MUST_CHECK bool document_push(const struct builder *builder, const struct push *push, struct error *error);

/*
 * Queues, in the open transaction, what the claimed changes lead to by a query, and all documents if need be. Live
 * changes overtake it, so it comes after the push.
 */
MUST_CHECK bool document_queue_more(const struct document *document, struct source *source, struct stale *stale,
                                    struct error *error);

/*
 * Notes in the open transaction which documents of a stale batch were refused, and stops the document if that is
 * wished; and that documents which had been refused are there now.
 */
MUST_CHECK bool document_note(const struct document *document, struct source *source, const struct outcomes *outcomes,
                              bool halts, struct error *error);

#endif
