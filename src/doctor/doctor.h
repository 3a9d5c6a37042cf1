/* SPDX-License-Identifier: MIT */
/* doctor: the verb that checks the machine, and with --prove attacks a server. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "cli/verb.h"

extern const struct verb verb_doctor;

#endif
