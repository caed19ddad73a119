/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* Shared by the subcommands of mtldl. */

enum
{
  TOOL_DONE = 0,
  TOOL_FAILED = 1,
  TOOL_WRONG_USAGE = 2,
};

typedef struct _ToolCommand ToolCommand;

struct _ToolCommand
{
  const char *name;
  const char *arguments; /* for the usage */
  const char *summary;
  int (*run) (const ToolCommand *self, int argc, char *argv[]);
  int min_arguments;
  int max_arguments;
};

int tool_ls    (const ToolCommand *command, int argc, char *argv[]);
int tool_show  (const ToolCommand *command, int argc, char *argv[]);
int tool_check (const ToolCommand *command, int argc, char *argv[]);
int tool_cp    (const ToolCommand *command, int argc, char *argv[]);

/* Reads the options in entries, and returns the other arguments. If it returns NULL,
 * the command ends with *status. */
char          **tool_parse           (const ToolCommand   *command,
                                      const GOptionEntry  *entries,
                                      int                  argc,
                                      char                *argv[],
                                      int                 *status);
int             tool_wrong_usage     (const ToolCommand   *command,
                                      const char          *format,
                                      ...) G_GNUC_PRINTF (2, 3);

/* To standard output, in UTF-8 in any locale. */
void            tool_print           (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_print_text      (const char          *text);
gboolean        tool_finish_output   (void);

/* Escape sequences for colors, or "" without colors. */
const char     *tool_strong          (void);
const char     *tool_accent          (void);
const char     *tool_plain           (void);

/* To standard error. */
void            tool_complain        (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_complain_of     (const char          *path,
                                      const GError        *error);

/* Untrusted text, escaped for a terminal, and back. */
gboolean        tool_is_printed      (gunichar             character);
char           *tool_escape          (const char          *text);
char           *tool_unescape        (const char          *text);
char           *tool_shape_to_string (const gint64        *shape,
                                      gsize                n_dims);
char           *tool_format_bytes    (guint64              n_bytes);

gboolean        tool_dtype_is_integer      (MtlDType       dtype);
gboolean        tool_dtype_is_complex      (MtlDType       dtype);
gboolean        tool_dtype_is_float        (MtlDType       dtype);
guint           tool_dtype_get_number_size (MtlDType       dtype);

GFile          *tool_new_file        (const char          *path,
                                      GError             **error);
MtlTensorFile  *tool_open            (const char          *path);

/* The tensors that match any of the patterns, or all if there are no patterns. If a
 * pattern matches nothing, prints an error and returns NULL. The file owns the names. */
const char    **tool_select_names    (MtlTensorFile       *file,
                                      char               **patterns);
GPtrArray      *tool_select_entries  (MtlTensorFile       *file,
                                      char               **patterns);

/* The progress of a long operation: a bar if standard error is a terminal, otherwise
 * a line from time to time. */
typedef struct
{
  const char *what; /* NULL to show nothing */
  gint64 last_time;
  goffset last_percent;
  gboolean is_terminal;
  gboolean is_bar_shown;
} ToolProgress;

void            tool_progress_init   (ToolProgress        *self,
                                      const char          *what);
void            tool_progress_update (goffset              current,
                                      goffset              total,
                                      gpointer             user_data);
void            tool_progress_clear  (ToolProgress        *self);

G_END_DECLS
