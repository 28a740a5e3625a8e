// All of Kiln's API in one include: see api/session.h and api/job.h.
#pragma once

#include "api/errors.h"   // IWYU pragma: export
#include "api/job.h"      // IWYU pragma: export
#include "api/json.h"     // IWYU pragma: export
#include "api/machine.h"  // IWYU pragma: export
#include "api/session.h"  // IWYU pragma: export
#include "api/text.h"     // IWYU pragma: export
