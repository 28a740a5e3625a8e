// The headers that most tests include, precompiled once.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/pch.h"
