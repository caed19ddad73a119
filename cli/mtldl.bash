# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for mtldl

# The words of the line up to the cursor, not broken at = and : as COMP_WORDS are.
_mtldl_split ()
{
  local line=${COMP_LINE:0:COMP_POINT} part rest
  words=()
  for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    rest=${line#"${line%%[![:space:]]*}"}
    part=${part:0:${#rest}}
    if (( ${#words[@]} > 0 )) && [[ $rest == "$line" ]]; then
      words[-1]+=$part
    else
      words+=("$part")
    fi
    line=${rest#"$part"}
  done
}

# Removes quotes and backslashes from a word that is still being typed.
_mtldl_unquote ()
{
  local word=$1 quote= char i
  unquoted=
  if [[ $word == '~/'* ]]; then
    unquoted=$HOME
    word=${word:1}
  fi
  for (( i = 0; i < ${#word}; i++ )); do
    char=${word:i:1}
    if [[ $char == "$quote" ]]; then
      quote=
    elif [[ -z $quote && $char == [\"\'] ]]; then
      quote=$char
    elif [[ $char == '\' && $quote != "'" ]]; then
      (( i++ ))
      unquoted+=${word:i:1}
    else
      unquoted+=$char
    fi
  done
}

# _mtldl_offer PREFIX CANDIDATE…: candidates that begin with the typed text after the
# prefix.
_mtldl_offer ()
{
  local prefix=$1 candidate
  shift
  _mtldl_unquote "$current"
  for candidate; do
    if [[ $prefix$candidate == "$unquoted"* ]]; then
      COMPREPLY+=("$prefix$candidate")
    fi
  done
}

# Text from a file is escaped for the place of the word: in quotes, or without. When it
# inserts all candidates (M-*, COMP_TYPE 42), readline removes the quote.
_mtldl_quote ()
{
  case $COMP_TYPE:$current in
    42:*) printf -v quoted %q "$1" ;;
    *:\'*) quoted=${1//\'/\'\\\'\'} ;;
    *:\"*) quoted=${1//\\/\\\\}
           quoted=${quoted//\"/\\\"}
           quoted=${quoted//\$/\\\$}
           quoted=${quoted//\`/\\\`} ;;
    *) printf -v quoted %q "$1" ;;
  esac
}

# _mtldl_offer_names PREFIX FILE: tensors of the file, as mtldl prints their names.
_mtldl_offer_names ()
{
  local prefix=$1 names name quoted
  _mtldl_unquote "$2"
  if [[ ! -f $unquoted ]]; then
    return
  fi

  mapfile -t names < <(mtldl ls --names -- "$unquoted" 2>/dev/null)
  compopt -o nospace
  compopt -o nosort 2>/dev/null # bash before 4.4 sorts by characters
  _mtldl_unquote "$current"
  for name in "${names[@]}"; do
    if [[ $prefix$name == "$unquoted"* ]]; then
      _mtldl_quote "$name"
      COMPREPLY+=("$prefix$quoted")
    fi
  done
}

# Folders, and files whose names end as files of tensors do; all files, if there are
# none.
_mtldl_offer_files ()
{
  local all file
  _mtldl_unquote "$current"
  mapfile -t all < <(compgen -f -- "$unquoted")
  compopt -o filenames
  for file in "${all[@]}"; do
    case $file in
      *.safetensors | *.safetensors.index.json | *.npy | *.npz) COMPREPLY+=("$file") ;;
      *) [[ -d $file ]] && COMPREPLY+=("$file") ;;
    esac
  done
  if (( ${#COMPREPLY[@]} == 0 )); then
    COMPREPLY=("${all[@]}")
  fi
}

_mtldl_options ()
{
  case $1 in
    ls) echo --all --long --names --human-readable --metadata --json --select= --sort= --help ;;
    show) echo --stats --json --max-items= --help ;;
    check) echo --nan --inf --bool --alignment --strict --quiet --help ;;
    cp) echo --select= --rename= --dtype= --align= --keep-order --shard-size= --metadata= \
             --format= --no-sync --quiet --help ;;
    diff) echo --atol= --rtol= --ignore-dtype --select= --json --quiet --help ;;
    serve) echo --name= --select= --quiet --help ;;
  esac
}

_mtldl_dtypes='bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
  bfloat16 complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz
  float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn'

# _mtldl_offer_value OPTION PREFIX FILE: values of an option of ls, cp, diff or serve. The word that
# is typed begins with the prefix, which is --OPTION= or nothing.
_mtldl_offer_value ()
{
  local option=$1 prefix=$2 file=$3
  case $option in
    --select | -s | --rename | -r) _mtldl_offer_names "$prefix" "$file" ;;
    --dtype | -d) _mtldl_offer "$prefix" $_mtldl_dtypes ;;
    --sort) _mtldl_offer "$prefix" name size file ;;
    --format | -f) _mtldl_offer "$prefix" safetensors npy ;;
  esac
}

# The command's arguments before the cursor, without options and their values.
_mtldl_find_arguments ()
{
  local i word
  arguments=()
  for (( i = 2; i < ${#words[@]} - 1; i++ )); do
    word=${words[i]}
    case $word in
      -- ) arguments+=("${words[@]:i+1:${#words[@]}-i-2}"); return ;;
      -n | -s | -r | -d | -a | -S | -m | -f)
        [[ $command == cp || $command$word == @(show|serve)-n \
           || $command$word == @(ls|diff|serve)-s ]] \
          && (( i++ )) ;;
      --max-items | --select | --rename | --dtype | --align | --shard-size | --metadata \
        | --format | --sort | --atol | --rtol | --name) (( i++ )) ;;
      -*) ;;
      *) arguments+=("$word") ;;
    esac
  done
}

# The file may be named after the options: it is the first word that is one.
_mtldl_find_source ()
{
  local word
  source=
  for word in "${COMP_WORDS[@]:2}"; do
    _mtldl_unquote "$word"
    if [[ -f $unquoted ]]; then
      source=$word
      return
    fi
  done
}

_mtldl_complete ()
{
  local previous=${words[-2]} arguments source

  if [[ $command == @(cp|ls|diff|serve) ]]; then
    _mtldl_find_source
    if [[ $current == --*=* ]]; then
      _mtldl_offer_value "${current%%=*}" "${current%%=*}=" "$source"
      return
    elif [[ $command$previous == cp-[srdf] || $command$previous == @(ls|diff|serve)-s
            || $previous == --@(select|rename|dtype|sort|format) ]]; then
      _mtldl_offer_value "$previous" '' "$source"
      return
    fi
  fi

  if [[ $current == -* ]]; then
    _mtldl_offer '' $(_mtldl_options "$command")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return
  fi

  _mtldl_find_arguments
  case $command:${#arguments[@]} in
    ls:0 | show:0 | check:* | cp:* | diff:[01] | serve:*) _mtldl_offer_files ;;
    show:1) _mtldl_offer_names '' "${arguments[0]}" ;;
    ls:*) _mtldl_offer_names '' "${arguments[0]}"
          (( ${#COMPREPLY[@]} > 0 )) || _mtldl_offer_files ;;
  esac
}

_mtldl ()
{
  local words current command unquoted i keep
  COMPREPLY=()
  _mtldl_split
  current=${words[-1]}
  command=${words[1]-}

  if (( ${#words[@]} == 2 )); then
    _mtldl_offer '' ls show check cp diff serve help --version --help
  elif [[ $command == help ]]; then
    (( ${#words[@]} > 3 )) || _mtldl_offer '' ls show check cp diff serve
  else
    _mtldl_complete
  fi

  # bash puts them in place of the text after the last = or :.
  if [[ $current != [\"\']* && $current == *[=:]* ]]; then
    keep=${current%"${current##*[=:]}"}
    for i in "${!COMPREPLY[@]}"; do
      COMPREPLY[i]=${COMPREPLY[i]#"$keep"}
    done
  fi
}

complete -F _mtldl mtldl
