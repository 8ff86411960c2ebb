/*
 * console_actor: who acts in the console, and what they may do. Somebody acts
 *
 *   with the token of the environment (CONSOLE_TOKEN), which may do everything and has no name;
 *   with a token of the file that CONSOLE_TOKENS names: NAME SHA-256 RIGHTS, see tokens.h;
 *   or by the name that a proxy gives them in the header that CONSOLE_USER_HEADER names. It is trusted because that is
 *   set: whoever reaches the port without the proxy can be anybody. What they may do is in the file, too, in lines with
 *   - in place of the hash: the name of a token gives nobody its rights. A request with that header has no other name.
 *
 * Rights are words with commas between them, or "all".
 */
#ifndef ROWRELAY_MONITOR_CONSOLE_ACTOR_H
#define ROWRELAY_MONITOR_CONSOLE_ACTOR_H

#include "http/server.h"
#include "monitor/tokens.h"

/* Environment variables; without any of them nobody can act. */
#define CONSOLE_TOKEN "ROWRELAY_CONSOLE_TOKEN"
#define CONSOLE_TOKENS "ROWRELAY_CONSOLE_TOKENS"
#define CONSOLE_USER_HEADER "ROWRELAY_CONSOLE_USER_HEADER"

enum right {
  RIGHT_PAUSE = 1, /* and to resume */
  RIGHT_RETRY = 2,
  RIGHT_SKIP = 4,
  RIGHT_REPLAY = 8,
  RIGHT_VERIFY = 16,
  RIGHT_REPAIR = 32, /* what is verified */
  RIGHT_ANY = 63
};

struct actor {
  bool is_known; /* else nobody who may do anything has asked */
  bool is_named_by_proxy;
  char name[TOKEN_NAME_SIZE]; /* "": it has none */
  unsigned rights;            /* enum right */
};

/* Whether the file of tokens, if there is one, can be read. */
MUST_CHECK bool console_actor_check(struct error *error);

/* Who has sent a request; false: the answer says why not, since what they brought is wrong. */
MUST_CHECK bool console_actor_find(const struct server_request *request, struct actor *actor,
                                   struct server_answer *answer);

/* Whether the actor may do that; else the answer says so. */
MUST_CHECK bool console_actor_may(const struct actor *actor, enum right right, struct server_answer *answer);

/* Handler for server.h: {"name", "rights": [WORDS], "by_proxy"} of whoever asks. */
void console_who(void *context, const struct server_request *request, struct server_answer *answer);

#endif
