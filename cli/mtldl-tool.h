/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <mtldl/mtldl.h>

#include "mtl-message-text-private.h"

/* Texts for people are translated; texts that other programs read are not. */
#ifdef MTLDL_LOCALE_DIR
#include <glib/gi18n.h>
#else
#define _(text) (text)
#define N_(text) (text)
#define ngettext(one, many, n) ((n) == 1 ? (one) : (many))
#endif

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
  const char *arguments; /* shown in the usage */
  const char *summary;
  int (*run) (const ToolCommand *self, int argc, char *argv[]);
  int min_arguments;
  int max_arguments;
};

int tool_ls    (const ToolCommand *command, int argc, char *argv[]);
int tool_show  (const ToolCommand *command, int argc, char *argv[]);
int tool_check (const ToolCommand *command, int argc, char *argv[]);
int tool_cp    (const ToolCommand *command, int argc, char *argv[]);
int tool_diff  (const ToolCommand *command, int argc, char *argv[]);
int tool_serve (const ToolCommand *command, int argc, char *argv[]);

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

/* Print to standard output, in UTF-8 in any locale. */
void            tool_print           (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_print_text      (const char          *text);
gboolean        tool_finish_output   (void);

/* Escape sequences for colors, or "" without colors. */
const char     *tool_strong          (void);
const char     *tool_accent          (void);
const char     *tool_dim             (void);
const char     *tool_plain           (void);

/* Checks that the locale has characters beyond ASCII. */
gboolean        tool_knows_unicode   (void);

/* Print to standard error. */
void            tool_print_error     (const char          *text);
void            tool_complain        (const char          *format,
                                      ...) G_GNUC_PRINTF (1, 2);
void            tool_complain_of     (const char          *path,
                                      const GError        *error);

/* Untrusted text, escaped for a terminal, and back. */
char           *tool_escape          (const char          *text);
char           *tool_escape_typed    (const char          *text);
char           *tool_unescape        (const char          *text);
char           *tool_format_bytes    (guint64              n_bytes);

gboolean        tool_dtype_is_integer      (MtlDType       dtype);
gboolean        tool_dtype_is_signed       (MtlDType       dtype);
gboolean        tool_dtype_is_complex      (MtlDType       dtype);
gboolean        tool_dtype_is_opaque       (MtlDType       dtype);
gboolean        tool_dtype_is_float        (MtlDType       dtype);
guint           tool_dtype_get_number_size (MtlDType       dtype);

/* “-” is standard input. */
GFile          *tool_new_file        (const char          *path,
                                      GError             **error);
gboolean        tool_is_file_name    (const char          *name);

/* The paths of the files in a folder, in their natural order; an index stands for those
 * that it names. The path of a file is returned as it is. */
GPtrArray      *tool_find_files      (const char          *path,
                                      GError             **error);

/* The message of an error names the file at fault; tool_open() prints it. */
MtlTensorFile  *tool_open_file       (const char          *path,
                                      GError             **error);
MtlTensorFile  *tool_open            (const char          *path);

/* Adds to the error of a file what it is, if it is of another kind, and what to do. */
void            tool_add_kind        (GFile               *file,
                                      GError             **error);

gboolean        tool_is_refused      (MtlTensorFileEntry  *entry);
char           *tool_dup_shape       (MtlTensorFileEntry  *entry);
void            tool_print_json_shape (MtlTensorFileEntry *entry);
void            tool_print_json_type (MtlTensorFileEntry  *entry);
void            tool_complain_of_entry (const char        *path,
                                        const char        *name,
                                        const GError      *error);

/* The names are those that are shown, in the order of the file. */
char           *tool_dup_name        (MtlTensorFile       *file,
                                      MtlTensorFileEntry  *entry);
char           *tool_dup_only_name   (MtlTensorFile       *file);
char          **tool_list_names      (MtlTensorFile       *file);

typedef enum
{
  TOOL_SORT_NAME,
  TOOL_SORT_FILE,
  TOOL_SORT_SIZE,
} ToolSort;

/* * matches any text, and ? any one character. */
gboolean        tool_is_pattern      (const char          *text);
gboolean        tool_pattern_matches (const char          *pattern,
                                      const char          *name);
gsize           tool_measure_character (const char        *at);

int             tool_compare_names   (const char          *a,
                                      const char          *b);
gboolean        tool_parse_sort      (const char          *text,
                                      ToolSort            *sort);
char           *tool_guess           (const char          *typed,
                                      const char *const   *names);
gboolean       *tool_match_names     (char               **names,
                                      char               **patterns,
                                      gboolean            *used);
gboolean        tool_check_patterns  (char               **patterns,
                                      const gboolean      *used,
                                      const char *const   *names);

/* The tensors that match any of the patterns, or all if there are no patterns. If a
 * pattern matches nothing, prints an error and returns NULL. */
GPtrArray      *tool_select_entries  (MtlTensorFile       *file,
                                      char               **patterns);

/* Columns of a terminal. */
#define TOOL_MESSAGE_NAME 60 /* the columns of a name in a message */
guint           tool_get_columns     (int                  descriptor);
guint           tool_get_width       (const char          *text);
char           *tool_shorten_name    (const char          *name);
char           *tool_shorten         (const char          *text,
                                      guint                width);

void            tool_print_json_text (const char          *text);

/* Pieces of views. The position is that of the first element, with an index for each
 * axis. */
typedef gboolean (*ToolPieceFunc) (MtlStridedView  *view,
                                   MtlStridedView  *other,
                                   const gint64    *position,
                                   gpointer         user_data,
                                   GError         **error);

gboolean        tool_visit_pieces    (MtlStridedView      *view,
                                      MtlStridedView      *other,
                                      ToolPieceFunc        func,
                                      gpointer             user_data,
                                      GError             **error);

/* The elements of a piece, in C order: int64, uint64, float64 or complex128. */
typedef struct
{
  MtlStridedView *view;
  MtlDType dtype;
  gint64 n;
  gconstpointer data;
} ToolNumbers;

gboolean        tool_numbers_init          (ToolNumbers        *self,
                                            MtlStridedView     *view,
                                            GError            **error);
void            tool_numbers_clear         (ToolNumbers        *self);
gboolean        tool_numbers_are_integers  (const ToolNumbers  *self);
double          tool_numbers_get_double    (const ToolNumbers  *self,
                                            gint64              i);
double          tool_numbers_get_imaginary (const ToolNumbers  *self,
                                            gint64              i);
long double     tool_numbers_get_distance  (const ToolNumbers  *a,
                                            const ToolNumbers  *b,
                                            gint64              i);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ToolNumbers, tool_numbers_clear)

/* The progress of a long operation: a bar if standard error is a terminal. */
typedef struct
{
  const char *what;     /* NULL to show nothing */
  const char *at_end;   /* the text that follows when all is done, or NULL */
  gint64 last_time;
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
