#pragma once

// All that a program with kernels needs.

#include "teeny/base/error.hpp"
#include "teeny/kernel.hpp"
#include "teeny/program.hpp"
#include "teeny/runtime/buffer.hpp"
#include "teeny/runtime/device.hpp"
#include "teeny/runtime/event.hpp"
#include "teeny/runtime/graph.hpp"
#include "teeny/runtime/grid.hpp"
#include "teeny/runtime/launch.hpp"
#include "teeny/runtime/memory_need.hpp"
#include "teeny/runtime/stream.hpp"
