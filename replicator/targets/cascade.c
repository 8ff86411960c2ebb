#include "targets/cascade.h"

#include <pthread.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "postgres/result.h"
#include "queries.h"

#define KNOWN ((size_t)256) /* mirrors that were told of; of more, the first ones are forgotten and told again */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t told[KNOWN];
static size_t told_count = 0;

static bool is_news(const char *target, const char *mirror) {
  uint64_t hash = text_hash(text_hash(TEXT_HASH_BEGIN, target), mirror);
  bool known = false;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < told_count && i < KNOWN; i++)
    known = known || told[i] == hash;
  if (!known)
    told[told_count++ % KNOWN] = hash;
  pthread_mutex_unlock(&lock);
  return !known;
}

bool cascade_tell(struct pgconn *connection, const char *target, const struct route *route, struct error *error) {
  PGresult *reply = NULL;
  struct buffer mirrors;
  buffer_init(&mirrors, (size_t)64 * 1024);
  buffer_add_string(&mirrors, "[");
  buffer_add_json_string(&mirrors, route->into_table);
  buffer_add_string(&mirrors, "]");
  bool ok = buffer_ok(&mirrors, "the mirror's name", error) &&
            pgconn_run(connection, &QUERY_mirror_cascades, VALUES(mirrors.data), &reply, error);
  bool tells = ok && PQntuples(reply) > 0 && is_news(target, route->into_table);
  for (int row = 0; tells && row < PQntuples(reply); row++)
    log_message(LOG_LEVEL_WARNING, "target %s: mirror %s: %s; run %s", target, route->into_table,
                PQgetvalue(reply, row, CASCADES_MEANING), PQgetvalue(reply, row, CASCADES_COMMAND));
  PQclear(reply);
  buffer_release(&mirrors);
  return ok;
}
