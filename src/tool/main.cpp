#include "tool/app.hpp"

int main(int argc, char** argv) { return teeny::tool::run_tool(argc, argv); }
