#include "tool/project/architecture.hpp"

#include <sys/utsname.h>

namespace teeny::tool {

std::string host_architecture() {
  utsname names{};
  ::uname(&names);
  return names.machine;
}

std::string architecture_of(const Board& board) {
  return board.triple.substr(0, board.triple.find('-'));
}

}  // namespace teeny::tool
