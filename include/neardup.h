/* neardup.h - everything public, in the order of the flow */
#ifndef NEARDUP_H
#define NEARDUP_H

#include <neardup/compare.h>
#include <neardup/cpu.h>
#include <neardup/dedup.h>
#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/hamming.h>
#include <neardup/hamming_file.h>
#include <neardup/hamming_stats.h>
#include <neardup/index.h>
#include <neardup/method.h>
#include <neardup/ratio.h>
#include <neardup/recipe.h>
#include <neardup/result_file.h>
#include <neardup/signature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>
#include <neardup/types.h>
#include <neardup/uses.h>
#include <neardup/version.h>
#include <neardup/visits.h>

#endif
