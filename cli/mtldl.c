/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mtldl: the command for files of tensors. */

#include "mtldl-tool.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const ToolCommand commands[] = {
  { "ls", N_("[FILE…] [PATTERN…]"), N_("list the tensors of files and folders"), tool_ls, 0, -1 },
  { "show", N_("FILE [NAME][SLICE]"), N_("print the elements of a tensor"), tool_show, 1, 3 },
  { "check", N_("FILE…"), N_("report what is wrong with files"), tool_check, 1, -1 },
  { "cp", N_("SOURCE… DESTINATION"), N_("copy tensors into another file"), tool_cp, 2, -1 },
  { "diff", N_("FILE OTHER"), N_("compare the tensors of two files"), tool_diff, 2, 2 },
  { "serve", N_("FILE…"), N_("show the tensors of files to other programs"), tool_serve, 1, -1 },
};

/* The names that other programs have for commands. */
static const struct
{
  const char *word;
  const char *command;
} synonyms[] = {
  { "list", "ls" }, { "dir", "ls" }, { "info", "ls" }, { "inspect", "ls" }, { "names", "ls" },
  { "cat", "show" }, { "print", "show" }, { "head", "show" }, { "view", "show" },
  { "get", "show" }, { "dump", "show" }, { "less", "show" }, { "more", "show" },
  { "stat", "show --stats" }, { "stats", "show --stats" }, { "statistics", "show --stats" },
  { "copy", "cp" }, { "convert", "cp" }, { "mv", "cp" }, { "write", "cp" }, { "split", "cp" },
  { "merge", "cp" }, { "join", "cp" }, { "cast", "cp" }, { "rename", "cp" },
  { "verify", "check" }, { "validate", "check" }, { "test", "check" },
  { "compare", "diff" }, { "cmp", "diff" },
  { "export", "serve" }, { "share", "serve" }, { "dbus", "serve" },
  { "version", "--version" }, { "-V", "--version" }, { "-v", "--version" },
};

static const ToolCommand *
find_command (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (commands[i].name, name))
      return &commands[i];

  return NULL;
}

static void
append_usage (GString *text)
{
  g_string_append (text, _("Usage:\n"));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, _("  mtldl %s [OPTION…] %s\n"), commands[i].name,
                            _(commands[i].arguments));
  g_string_append (text, _("  mtldl help [COMMAND]\n  mtldl --version\n"));
}

static void
append_commands (GString *text)
{
  g_string_append (text, _("\nCommands:\n"));
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_string_append_printf (text, "  %-6s %s\n", commands[i].name, _(commands[i].summary));
  g_string_append (text,
                   _("\nFiles are safetensors, several of them with an index, .npy and .npz; a "
                     "folder\nstands for those in it, and “-” for standard input, if that is a "
                     "file.\n"
                     "The exit status is 0 for success, 1 if a file is bad or something failed,\n"
                     "and 2 if the command line is invalid. For diff, 1 means that the files differ,\n"
                     "and 2 that something failed.\n"));
}

static int
show_help (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  append_usage (text);
  append_commands (text);
  tool_print_text (text->str);
  return TOOL_DONE;
}

static char *
guess_command (const char *name)
{
  const char *names[G_N_ELEMENTS (commands) + 2] = { "help" };

  for (gsize i = 0; i < G_N_ELEMENTS (synonyms); i++)
    if (g_str_equal (name, synonyms[i].word))
      return g_strdup_printf (_("; did you mean “%s”?"), synonyms[i].command);

  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i + 1] = commands[i].name;
  return tool_guess (name, names);
}

static int
refuse_command (const char *name)
{
  g_autofree char *escaped = tool_escape_typed (name);
  g_autofree char *quoted = NULL;
  g_autofree char *guess = NULL;

  if (g_file_test (name, G_FILE_TEST_EXISTS) || tool_is_file_name (name))
    {
      quoted = strpbrk (escaped, " !\"#$&'()*;<>?[\\]^`{|}~") != NULL ? g_shell_quote (escaped)
                                                                  : g_strdup (escaped);
      tool_complain (_("“%s” is the name of a file, not of a command: type “mtldl ls %s”, or "
                       "“mtldl help”"), escaped, quoted);
      return TOOL_WRONG_USAGE;
    }

  guess = guess_command (name);
  if (*guess != '\0')
    tool_complain (_("there is no command “%s”%s “mtldl help” lists all commands"), escaped, guess);
  else
    tool_complain (_("there is no command “%s”; “mtldl help” lists all commands"), escaped);
  return TOOL_WRONG_USAGE;
}

/* diff returns 1 without a failure. */
static int failed_status = TOOL_FAILED;

static int
run_command (const char *name,
             int         argc,
             char       *argv[])
{
  const ToolCommand *command = find_command (name);
  g_autofree char *program = NULL;

  if (command == NULL)
    return refuse_command (name);

  if (command->run == tool_diff)
    failed_status = TOOL_WRONG_USAGE;
  program = g_strconcat ("mtldl ", name, NULL);
  g_set_prgname (program);
  return command->run (command, argc, argv);
}

static int
run_help (int   argc,
          char *argv[])
{
  char *asked[] = { argv[0], (char *) "--help", NULL };

  if (argc == 1 || g_str_equal (argv[1], "help") || g_str_equal (argv[1], "-h")
      || g_str_equal (argv[1], "--help"))
    return show_help ();

  return run_command (argv[1], 2, asked);
}

static int
run (int   argc,
     char *argv[])
{
  const char *first = argc > 1 ? argv[1] : NULL;

  if (first == NULL)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autofree char *message = NULL;

      append_usage (text);
      message = g_strdup_printf (_("%s\n“mtldl help” says what they do.\n"), text->str);
      tool_print_error (message);
      return TOOL_WRONG_USAGE;
    }

  if (g_str_equal (first, "--help") || g_str_equal (first, "-h"))
    return show_help ();
  if (g_str_equal (first, "help"))
    return run_help (argc - 1, argv + 1);
  if (g_str_equal (first, "--version"))
    {
      tool_print ("mtldl %d.%d.%d\n", MTL_MAJOR_VERSION, MTL_MINOR_VERSION, MTL_MICRO_VERSION);
      return TOOL_DONE;
    }

  return run_command (first, argc - 1, argv + 1);
}

/* Translated before it is needed, as a signal handler may not do that. */
static const char *bus_error_message;

/* Others can truncate a mapped file at any time, and the disk can fail. */
static void
on_bus_error (int number)
{
  gssize written = write (STDERR_FILENO, bus_error_message, strlen (bus_error_message));

  (void) written;
  _exit (failed_status);
}

/* If the caller has closed a standard stream, a file could get its descriptor, and
 * output would go into that file. */
static void
hold_standard_streams (void)
{
  int descriptor;

  do
    descriptor = open ("/dev/null", O_RDONLY);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  close (descriptor);
}

/* Sets the language of texts. Numbers are the same in all languages. */
static void
set_language (void)
{
  setlocale (LC_CTYPE, "");
#ifdef MTLDL_LOCALE_DIR
  setlocale (LC_MESSAGES, "");
  bindtextdomain ("mtldl", MTLDL_LOCALE_DIR);
  bind_textdomain_codeset ("mtldl", "UTF-8");
  textdomain ("mtldl");
#endif
}

int
main (int   argc,
      char *argv[])
{
  struct sigaction action = { .sa_handler = on_bus_error };
  int status;

  hold_standard_streams ();
  set_language ();
  /* All files are on this machine, so GIO need not load the modules for others. */
  g_setenv ("GIO_USE_VFS", "local", TRUE);
  bus_error_message = _("mtldl: the file was truncated, or its disk failed, while it was being "
                        "read\n");
  sigaction (SIGBUS, &action, NULL);
  signal (SIGXFSZ, SIG_IGN); /* a file that gets too large is an error */

  status = run (argc, argv);
  return tool_finish_output () ? status : MAX (status, failed_status);
}
