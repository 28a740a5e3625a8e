// A precompiled header: the headers that most tests of compiled code include.
#pragma once

#include "backends/codegen/mlir_pch.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tests/support/pch.h"
