// A precompiled header: the headers that most tests and benchmarks of compiled code include.
#pragma once

#include <CLI/CLI.hpp>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/support/pch.h"
