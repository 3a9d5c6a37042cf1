/* SPDX-License-Identifier: MIT */
/* thread: start a thread with a stack of a given size. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Run work(arg) in a new thread with this much stack. *ret is for pthread_join; if ret is NULL, the
 * thread is detached. False if the system has no room for another thread. */
bool thread_start(void *(*work)(void *arg), void *arg, size_t stack, pthread_t *ret);

#endif
