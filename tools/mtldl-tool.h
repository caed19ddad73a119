/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

G_BEGIN_DECLS

/* What the subcommands of mtldl have in common. */

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
  const char *arguments; /* as the usage tells them */
  const char *summary;
  int (*run) (const ToolCommand *self, int argc, char *argv[]);
  int min_arguments;
  int max_arguments;
};

int tool_ls    (const ToolCommand *command, int argc, char *argv[]);
int tool_show  (const ToolCommand *command, int argc, char *argv[]);
int tool_check (const ToolCommand *command, int argc, char *argv[]);
int tool_cp    (const ToolCommand *command, int argc, char *argv[]);

/* Reads the options that entries describe, and gives the other arguments. Without them
 * the command has nothing more to do and ends with *status. */
char          **tool_parse           (const ToolCommand   *command,
                                      const GOptionEntry  *entries,
                                      int                  argc,
                                      char                *argv[],
                                      int                 *status);
int             tool_wrong_usage     (const ToolCommand   *command,
                                      const char          *format,
                                      ...) G_GNUC_PRINTF (2, 3);

/* Standard output: what goes there is UTF-8, whatever the locale. */
void            tool_print           (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_print_text      (const char          *text);
gboolean        tool_finish_output   (void);

/* Colours, "" where there are to be none. */
const char     *tool_strong          (void);
const char     *tool_accent          (void);
const char     *tool_plain           (void);

/* A message for people, on standard error. */
void            tool_complain        (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_complain_of     (const char          *path,
                                      const GError        *error);

/* A stranger's text as it may stand on a terminal, and back. */
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

MtlTensorFile  *tool_open            (const char          *path);

/* What of the file matches any of the patterns, or all where there are none; NULL, after
 * a complaint, where one matches nothing. The names are the file's. */
const char    **tool_select_names    (MtlTensorFile       *file,
                                      char               **patterns);
GPtrArray      *tool_select_entries  (MtlTensorFile       *file,
                                      char               **patterns);

/* How far a long work is: a bar where standard error is a terminal, and otherwise a line
 * now and then. */
typedef struct
{
  const char *what; /* NULL: nothing is shown */
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
