/*
 * document: builds documents by a query over several tables, and turns changes of these tables into documents to push.
 *
 * A document is a target of its own, with lanes by its own keys. A claim returns changes of any of its tables, each
 * with the keys of documents that it makes stale (see claim_documents.sql). Each key becomes one change to push, and
 * just before the push the query runs for all of them: a row that it returns is an upsert, a key without one is a
 * delete. So targets see only changes.
 *
 * What is pushed is never older than what the target has: a worker that builds a document holds the lock of the lane
 * with its key, and reads after taking it.
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
  size_t keys_at_once;  /* how many keys a query gets: adapted to its time and the size of its result */
};

/* The documents that a claim makes stale, as changes to push, in order of keys; not built yet. */
struct stale {
  struct batch batch;
  json_t *keys;            /* owns the changes' keys */
  struct buffer asks_ids;  /* array literals without closing brace: changes whose documents a query finds */
  struct buffer asks_days; /* their days */
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
 * Builds the documents of a push, whose changes are of a stale batch, and pushes them. All are delivered, or it can be
 * repeated. FAILURE_REFUSED: some of the documents are at fault.
 */
MUST_CHECK bool document_push(const struct builder *builder, const struct push *push, struct error *error);

/*
 * Queues, in the open transaction, the documents that --from queries find, and all documents if needed. Live changes
 * overtake them, so this comes after the push.
 */
MUST_CHECK bool document_queue_more(const struct document *document, struct source *source, struct stale *stale,
                                    struct error *error);

/*
 * Records in the open transaction which documents of a stale batch were refused, halts the document if `halts`, and
 * clears earlier refusals of documents that have arrived.
 */
MUST_CHECK bool document_note(const struct document *document, struct source *source, const struct outcomes *outcomes,
                              bool halts, struct error *error);

#endif
