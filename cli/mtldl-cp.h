/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "mtldl-tool.h"

G_BEGIN_DECLS

/* FROM=TO */
typedef struct
{
  char *from;
  char *to;
} ToolRename;

gboolean tool_rename_init  (ToolRename       *self,
                            const char       *rule);
void     tool_rename_clear (ToolRename       *self);
char    *tool_rename_apply (const ToolRename *self,
                            const char       *name);

/* PATTERN=TYPE, or just TYPE, which applies to floats. */
typedef struct
{
  char *pattern; /* or NULL */
  MtlDType dtype;
} ToolDtypeRule;

/* The options as given, and as parsed. */
typedef struct
{
  char **select;
  char **renames;
  char **dtypes;
  char **metadata;
  char *shard_size;
  int alignment;
  char *format_text;
  gboolean keep_order;
  gboolean no_sync;
  gboolean quiet;

  GArray *rename_rules; /* ToolRename */
  GArray *dtype_rules;  /* ToolDtypeRule */
  guint64 max_shard;
  MtlTensorFileFormat format;
} ToolCopyOptions;

void     tool_copy_options_init  (ToolCopyOptions       *self);
void     tool_copy_options_clear (ToolCopyOptions       *self);
gboolean tool_copy_options_parse (ToolCopyOptions       *self,
                                  const char            *destination,
                                  char                 **wrong);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolCopyOptions, tool_copy_options_clear)

/* A tensor to be copied. */
typedef struct
{
  MtlTensorFile *source;
  const char *path;          /* the path of the source */
  MtlTensorFileEntry *entry;
  char *name;                /* the name in the source */
  char *new_name;
  MtlDType dtype;            /* the new one */
  MtlStridedView *view;      /* set when it is added to the new file */
} ToolCopyItem;

void     tool_copy_item_free     (ToolCopyItem          *self);
gboolean tool_list_copies        (const ToolCopyOptions *options,
                                  GPtrArray             *sources,
                                  char                 **paths,
                                  GPtrArray             *items);

/* The numbers of elements that change in each way when they are converted. */
typedef struct
{
  guint64 n_infinite;  /* became infinite */
  guint64 n_nan;       /* became NaN */
  guint64 n_no_nan;    /* were NaN */
  guint64 n_clamped;   /* became the nearest that fits */
  guint64 n_wrapped;   /* integers that lost their upper bits */
  guint64 n_zero;      /* became 0, and were not */
  guint64 n_imaginary; /* lost an imaginary part */
} ToolLosses;

gboolean tool_count_losses       (MtlStridedView        *view,
                                  MtlDType               dtype,
                                  ToolLosses            *losses,
                                  GError               **error);
gboolean tool_report_losses      (GPtrArray             *items,
                                  ToolProgress          *progress,
                                  GError               **error);

/* Signals that end a program are only noted between these calls. */
void     tool_catch_signals      (void);
int      tool_get_caught_signal  (void);
void     tool_release_signals    (void);

G_END_DECLS
