/* SPDX-License-Identifier: MIT */
/* doctor: the verb that looks at the machine, and with --prove tries the guards out. */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "cli/verb.h"

extern const struct verb verb_doctor;

#endif
