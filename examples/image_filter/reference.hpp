#pragma once

#include "picture.hpp"

/// The pipeline of kernels.hpp in plain C++ and double precision.
Picture filter_reference(const Picture& photo);

/// Largest absolute difference of any channel; 256 when the sizes differ.
int largest_difference(const Picture& a, const Picture& b);
