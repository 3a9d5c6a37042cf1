/* SPDX-License-Identifier: MIT */
/*
 * refusal: will the sandbox refuse what a stopped call is about to do, and would it have been
 * possible without the sandbox?
 *
 * Concluded from the sandbox's own rules (sandbox/bounds.h), from the mounts that the caller sees,
 * and from what is there: a name that exists already, a file whose permissions forbid it, a
 * directory that does not exist would have made the call fail anyway, and that is not a denial. The
 * kernel judges permissions, for this process with the rights of its commands. Python's attempts to
 * keep compiled modules beside those of the system are no denials either: it does without.
 */
#ifndef SANDBOX_REFUSAL_H
#define SANDBOX_REFUSAL_H

#include "sandbox/denials.h"

/* A judge that never answers: it adds a denial to the list if there is one. */
struct judge refusal_judge(struct denials *d);

#endif
