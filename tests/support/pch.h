// A precompiled header: the headers that most tests include.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/pch.h"
