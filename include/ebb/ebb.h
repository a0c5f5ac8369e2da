/* ebb/ebb.h: all of Ebb. */
#ifndef EBB_EBB_H
#define EBB_EBB_H

#include "ebb/base.h"
#include "ebb/build.h"
#include "ebb/check.h"
#include "ebb/config.h"
#include "ebb/costs.h"
#include "ebb/data.h"
#include "ebb/engine.h"
#include "ebb/onnx.h"
#include "ebb/pack.h"
#include "ebb/plan.h"
#include "ebb/report.h"

#endif
