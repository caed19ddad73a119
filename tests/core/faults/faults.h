/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls of the system that fail, one after another. Those of the library alone: what
 * GLib and the test call is never touched. */

#pragma once

#include "test-files.h"

/* The calls that a fault can be in. */
typedef enum
{
  FAULT_STAT = 1 << 0,
  FAULT_OPEN = 1 << 1,
  FAULT_FSTAT = 1 << 2,
  FAULT_FSTATFS = 1 << 3,
  FAULT_READ = 1 << 4,
  FAULT_MAP = 1 << 5,
  FAULT_UNMAP = 1 << 6,
  FAULT_ADVISE = 1 << 7,
  FAULT_CLOSE = 1 << 8,
  FAULT_ALLOCATE = 1 << 9, /* memory whose size a file decides */
  FAULT_RESOLVE = 1 << 10, /* a path whose links are followed */
  FAULT_OWNER = 1 << 11,
  FAULT_MODE = 1 << 12,
  FAULT_RESERVE = 1 << 13, /* room in a file, and its size */
  FAULT_WRITE = 1 << 14,
  FAULT_FLUSH = 1 << 15,
  FAULT_RENAME = 1 << 16,
  FAULT_UNLINK = 1 << 17,
  FAULT_SEND = 1 << 18,   /* bytes to the disk, without waiting */
  FAULT_FOLDER = 1 << 19, /* opening, flushing and closing one; those above are for files */
  FAULT_READ_LINK = 1 << 20,
  FAULT_LIST = 1 << 21, /* the names in a folder */
  FAULT_MEMFD = 1 << 22,
  FAULT_DUP = 1 << 23,  /* a descriptor is duplicated */
  FAULT_SEAL = 1 << 24,
  FAULT_ASK = 1 << 25,  /* a descriptor for its seals, or the size of its pipe */
  FAULT_SENDMSG = 1 << 26,
  FAULT_RECVMSG = 1 << 27,
  FAULT_POLL = 1 << 28,
  FAULT_PIPE = 1 << 29,
  FAULT_USER = 1 << 30, /* this process seems to be another user's, or the peer's is not known */
} FaultCalls;

/* An outcome for Fault: the operation succeeds after some failures, and not after others. */
#define SOMETIMES 2

typedef struct
{
  FaultCalls calls;
  int code;        /* errno; 0 for a count that is short */
  int is_survived; /* TRUE if the operation succeeds all the same, or SOMETIMES */
  MtlError error;  /* the code in MTL_ERROR if it is not that of errno */
} Fault;

/* Files of a folder in use, or memory without one: either done, or an error. */
typedef struct
{
  TestFolder *folder; /* nullable */
  gboolean (* run) (gpointer   data,
                    GError   **error);
  void (* check) (gpointer     data,
                  const Fault *fault,
                  gboolean     is_done); /* nullable: what is left behind */
  gpointer data;
} FaultCase;

/* Between the two, call number @n of the fault's calls fails. The second one returns TRUE if there
 * was such a call. */
void     faults_arm             (const Fault     *fault,
                                 guint            n);
gboolean faults_disarm          (void);

/* Sets the file system that the files seem to be on, as f_type of statfs(); 0 for the real one. */
void     faults_set_file_system (guint32          magic);

/* Lets call number 0, 1, 2, … of each fault's calls fail, until there are no more of them in a run.
 * Returns the number of failures. */
guint    faults_try_each        (const FaultCase *self,
                                 const Fault     *faults,
                                 gsize            n_faults);
