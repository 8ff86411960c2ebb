/*
 * fault: what goes wrong in a run, and what people do meanwhile. Each is a function of faults.c that takes a few
 * seconds and leaves everything as it should be; several run at once, each in a process of its own.
 */
#ifndef ROWRELAY_CHAOS_FAULT_H
#define ROWRELAY_CHAOS_FAULT_H

#include "dice.h"
#include "proxy.h"
#include "stage.h"

struct fault_scene {
  const struct stage *stage;
  struct proxy source; /* between rowrelay and the source */
  struct proxy target; /* between rowrelay and the databases of the target server */
  struct dice dice;    /* this fault's own */
};

/* Carries out the fault that the dice choose; `only` names the one to carry out instead, NULL: any. */
void fault_happen(struct fault_scene *scene, const char *only);

#endif
