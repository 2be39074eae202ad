#pragma once

// Weights from safetensors files: declared by a program, checked before it runs, read by it.

#include "teeny/weights/load.hpp"
#include "teeny/weights/safetensors.hpp"
#include "teeny/weights/weight.hpp"
