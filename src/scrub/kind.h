/* SPDX-License-Identifier: MIT */
/* kind: the kinds of secrets that are told apart in marks and in counts. */
#ifndef SCRUB_KIND_H
#define SCRUB_KIND_H

/* enum constant, name in the mark */
#define SCRUB_KINDS(X)                                                                             \
	X(SCRUB_AWS_KEY, "aws-access-key")                                                         \
	X(SCRUB_AWS_SECRET, "aws-secret-key")                                                      \
	X(SCRUB_GOOGLE, "google-key")                                                              \
	X(SCRUB_AZURE, "azure-key")                                                                \
	X(SCRUB_GITHUB, "github-token")                                                            \
	X(SCRUB_GITLAB, "gitlab-token")                                                            \
	X(SCRUB_REGISTRY, "registry-token")                                                        \
	X(SCRUB_MODEL, "model-key")                                                                \
	X(SCRUB_SLACK, "slack-token")                                                              \
	X(SCRUB_DISCORD, "discord-token")                                                          \
	X(SCRUB_PAYMENT, "payment-key")                                                            \
	X(SCRUB_JWT, "jwt")                                                                        \
	X(SCRUB_PRIVATE_KEY, "private-key")                                                        \
	X(SCRUB_BASIC_AUTH, "basic-auth")                                                          \
	X(SCRUB_BEARER, "bearer-token")                                                            \
	X(SCRUB_ASSIGNED, "secret")                                                                \
	X(SCRUB_CONFIGURED, "configured")                                                          \
	X(SCRUB_PATTERN, "pattern") /* counted as this; the mark has the pattern's own name */

enum scrub_kind {
#define X(id, name) id,
	SCRUB_KINDS(X)
#undef X
		SCRUB_KIND_COUNT,
};

#endif
