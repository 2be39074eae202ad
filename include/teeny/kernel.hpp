#pragma once

// The kernel language: what a file of kernels includes.

#include "teeny/lang/control.hpp"
#include "teeny/lang/creation.hpp"
#include "teeny/lang/dot.hpp"
#include "teeny/lang/elementwise.hpp"
#include "teeny/lang/kernel_traits.hpp"
#include "teeny/lang/launchable.hpp"
#include "teeny/lang/memory.hpp"
#include "teeny/lang/operators.hpp"
#include "teeny/lang/reduce.hpp"
#include "teeny/lang/shaping.hpp"
#include "teeny/lang/tile.hpp"
#include "teeny/lang/view.hpp"
