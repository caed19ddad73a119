#compdef mtldl
# SPDX-License-Identifier: LGPL-2.1-or-later
# zsh completion for mtldl

_mtldl_files ()
{
  _files -g '*.(safetensors|npy|npz|safetensors.index.json)(-.)'
}

# The file whose tensors are offered: the first word that is one. Names come from other
# people, so nothing in the word is expanded but ~/.
_mtldl_find_file ()
{
  local word
  for word in "${(@)words[2,-1]}"; do
    word=${(Q)word}
    [[ $word == '~/'* ]] && word=$HOME/${word#'~/'}
    if [[ -f $word ]]; then
      file=$word
      return
    fi
  done
  return 1
}

# Tensors of the file, in the order in which mtldl lists them. A slice may follow.
_mtldl_names ()
{
  local file
  local -a names
  _mtldl_find_file || return 1
  names=("${(@f)$(mtldl ls --names -- "$file" 2>/dev/null)}")
  names=(${names:#})
  compadd -V tensors -S '' -- $names
}

_mtldl_names_or_files ()
{
  _mtldl_names || _mtldl_files
}

_mtldl_dtypes ()
{
  compadd -V types -- float32 float16 bfloat16 float64 int8 int16 int32 int64 uint8 uint16 \
    uint32 uint64 bool complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 \
    float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn
}

_mtldl ()
{
  local curcontext=$curcontext state line
  local -A opt_args
  local -a commands help
  commands=('ls:list the tensors of files and folders' 'show:print the elements of a tensor'
            'check:report what is wrong with files' 'cp:copy tensors into another file'
            'diff:compare the tensors of two files'
            'serve:show the tensors of files to other programs' 'help:explain a command')
  help=('(- *)'{-h,--help}'[show help]')

  _arguments -C $help '(- *)--version[print the version]' '1: :->command' '*:: :->arguments'
  case $state in
    command) _describe command commands; return ;;
    arguments) ;;
    *) return ;;
  esac

  case $words[1] in
    ls)
      _arguments -s -S '(- *)--help[show help]' \
        '(-a --all)'{-a,--all}'[print one line for each tensor]' \
        '(-l --long)'{-l,--long}'[print offsets, alignments and files, too]' \
        '(-1 --names)'{-1,--names}'[print only the names]' \
        '(-h --human-readable)'{-h,--human-readable}'[print sizes as 13.5 GiB]' \
        '(-m --metadata)'{-m,--metadata}'[print the metadata, too]' \
        '(-j --json)'{-j,--json}'[print everything as JSON]' \
        '*'{-s+,--select=}'[list only the tensors that match]:pattern:_mtldl_names' \
        '--sort=[sort the tensors]:order:(name size file)' \
        '1:file:_mtldl_files' '*:tensor:_mtldl_names_or_files' ;;
    show)
      _arguments -s -S $help \
        '(-s --stats)'{-s,--stats}'[print statistics]' \
        '(-j --json)'{-j,--json}'[print all elements as JSON]' \
        '(-n --max-items)'{-n+,--max-items=}'[print at most this many elements]:number: ' \
        '1:file:_mtldl_files' '2:tensor:_mtldl_names' '3:slice: ' ;;
    check)
      _arguments -s -S $help \
        '--nan[report NaNs]' '--inf[report infinities]' \
        '--bool[report truth values other than 0 and 1]' \
        '--alignment[report tensors that are not aligned]' \
        '--strict[report tensors that cannot be loaded]' \
        '(-q --quiet)'{-q,--quiet}'[report faults only]' \
        '*:file:_mtldl_files' ;;
    cp)
      _arguments -s -S $help \
        '*'{-s+,--select=}'[copy only the tensors that match]:pattern:_mtldl_names' \
        '*'{-r+,--rename=}'[rename tensors]:FROM=TO:_mtldl_names' \
        '*'{-d+,--dtype=}'[convert tensors]:[PATTERN=]TYPE:_mtldl_dtypes' \
        '(-a --align)'{-a+,--align=}'[align the first tensor]:bytes: ' \
        '(-k --keep-order)'{-k,--keep-order}'[keep the order of the tensors]' \
        '(-S --shard-size)'{-S+,--shard-size=}'[write several files]:size: ' \
        '*'{-m+,--metadata=}'[add to the metadata]:KEY=VALUE: ' \
        '(-f --format)'{-f+,--format=}'[write this format]:format:(safetensors npy)' \
        '--no-sync[do not wait for the disk]' \
        '(-q --quiet)'{-q,--quiet}'[do not report progress]' \
        '*:file:_mtldl_files' ;;
    diff)
      _arguments -s -S $help \
        '--atol=[allow this difference]:number: ' \
        '--rtol=[allow this times the second element]:number: ' \
        '--ignore-dtype[compare only the values]' \
        '*'{-s+,--select=}'[compare only the tensors that match]:pattern:_mtldl_names' \
        '(-j --json)'{-j,--json}'[print the differences as JSON]' \
        '(-q --quiet)'{-q,--quiet}'[print nothing]' \
        '1:file:_mtldl_files' '2:file:_mtldl_files' ;;
    serve)
      _arguments -s -S $help \
        '(-n --name)'{-n+,--name=}'[use this name on the bus]:name: ' \
        '*'{-s+,--select=}'[serve only the tensors that match]:pattern:_mtldl_names' \
        '(-q --quiet)'{-q,--quiet}'[print nothing]' \
        '*:file:_mtldl_files' ;;
    help)
      _arguments '1: :(ls show check cp diff serve)' ;;
  esac
}

_mtldl "$@"
