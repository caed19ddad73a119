/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Conversions from the type FROM to the type TO, which have their names in the kernels */

#include "box.h"
#include "gather.h"
#include "numbers.h"

#define PASTE_2(a, b) a##b
#define PASTE(a, b) PASTE_2 (a, b)
#define NAME_2(family, from, to) family##_##from##_##to
#define NAME(family, from, to) NAME_2 (family, from, to)
#define CONVERSION Convert<PASTE (number_, FROM) COMMA PASTE (number_, TO)>

GATHER_CONVERTED (NAME (gather, FROM, TO), CONVERSION)
DENSE (NAME (dense, FROM, TO), CONVERSION)
BOX (NAME (box, FROM, TO), CONVERSION)
