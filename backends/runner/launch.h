// The kernels that a program launches on a GPU, with their arguments, as plain data. The driver of a GPU, the emulator
// (emulator/emulator.h) and exported C code read it. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kiln {

// An argument of a kernel: a pointer to a parameter of the program, or to a place in the workspace.
struct LaunchArgument {
  bool is_workspace = false;
  int64_t value = 0;  // the number of the parameter, or the offset in the workspace
  int64_t bytes = 0;  // that the kernel may use
  bool is_read = false, is_written = false;
  bool operator==(const LaunchArgument&) const = default;
};

// One launch of a kernel. Blocks and threads are numbered along one dimension; the kernel computes its axes x, y and z
// from these numbers.
struct Launch {
  std::string kernel;
  int64_t blocks = 1, threads = 1;
  int64_t shared_bytes = 0;  // dynamic shared memory of a block
  std::vector<LaunchArgument> arguments = {};
  bool prepare = false;  // belongs to NAME_prepare
  bool operator==(const Launch&) const = default;
};

// All launches of a program, in the order in which they run. Each sees what those before it wrote.
struct LaunchList {
  std::vector<int64_t> parameters = {};  // the size of each
  int64_t workspace_bytes = 0;
  std::vector<Launch> launches = {};
  bool operator==(const LaunchList&) const = default;
};

// The tag of the field of a kernel (KernelField in runner.h) that holds an encoded LaunchList.
inline constexpr uint32_t kLaunchListField = 1;

// Lists the fields of LaunchArgument, Launch and LaunchList, so that backends/workers/wire.h can encode them.
struct LaunchFields {
  template <typename T>
  static constexpr bool kHas =
      std::is_same_v<T, LaunchArgument> || std::is_same_v<T, Launch> || std::is_same_v<T, LaunchList>;

  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    static_assert(kHas<T>);
    if constexpr (std::is_same_v<T, LaunchArgument>) {
      visit(value.is_workspace, value.value, value.bytes, value.is_read, value.is_written);
    } else if constexpr (std::is_same_v<T, Launch>) {
      visit(value.kernel, value.blocks, value.threads, value.shared_bytes, value.arguments, value.prepare);
    } else {
      visit(value.parameters, value.workspace_bytes, value.launches);
    }
  }
};

// Convert a list of launches to bytes and back, for another process of the same build. Decode returns false, and an
// unspecified value, if the bytes are too short or too long.
std::string Encode(const LaunchList& list);
bool Decode(const std::string& bytes, LaunchList* list);

}  // namespace kiln
