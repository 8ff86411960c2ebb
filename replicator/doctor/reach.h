/*
 * reach: whether targets can be reached from this machine, with this environment. A PostgreSQL target is asked what it
 * is; to an HTTP target only a connection is made; a file's directory is looked at. Nothing is changed anywhere.
 */
#ifndef ROWRELAY_DOCTOR_REACH_H
#define ROWRELAY_DOCTOR_REACH_H

#include "doctor/finding.h"
#include "source/source.h"

void reach_all(struct findings *findings, struct source *source);

#endif
