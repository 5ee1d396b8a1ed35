/* neardup.h - everything public */
#ifndef NEARDUP_H
#define NEARDUP_H

/*
 * Most of it is in libneardup (pkg-config neardup).  What reads files is in libneardup_files
 * (pkg-config neardup-files, which brings libneardup along): eval.h, explain.h, input.h, judging.h,
 * plan.h, run.h, run_df.h, sweep.h, uses.h.  Who calls nothing of these links the first alone.
 *
 * Rules for all of it: a handle says beside its struct which calls may run at once, and each
 * call what it leaves behind where it fails; a call that takes parameters refuses those out of
 * range; the library has no state of its own, installs no signal handler, and its threads block all
 * signals.
 */
#include <neardup/candidates.h>
#include <neardup/compare.h>
#include <neardup/cpu.h>
#include <neardup/dedup.h>
#include <neardup/df.h>
#include <neardup/duration.h>
#include <neardup/error.h>
#include <neardup/eval.h>
#include <neardup/evidence.h>
#include <neardup/explain.h>
#include <neardup/feature.h>
#include <neardup/hamming.h>
#include <neardup/hamming_file.h>
#include <neardup/hamming_stats.h>
#include <neardup/index.h>
#include <neardup/input.h>
#include <neardup/judging.h>
#include <neardup/plan.h>
#include <neardup/ratio.h>
#include <neardup/recipe.h>
#include <neardup/result_file.h>
#include <neardup/run.h>
#include <neardup/run_df.h>
#include <neardup/signature.h>
#include <neardup/size.h>
#include <neardup/sketch.h>
#include <neardup/sketch_file.h>
#include <neardup/sweep.h>
#include <neardup/terminal.h>
#include <neardup/text.h>
#include <neardup/types.h>
#include <neardup/uses.h>
#include <neardup/version.h>
#include <neardup/visits.h>

#endif
