// For tests and benchmarks: lowers programs, compiles them for this machine, loads them into this process and calls
// them. Needs the headers of MLIR.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backends/builder/compile.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "gtest/gtest.h"
#include "lang/program/layout.h"
#include "lang/program/program.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "testing/compiled/loaded.h"

namespace kiln {

// Parses a program from its text, which lacks "kiln.program v1" at its beginning. Fails the test if it does not parse.
inline Program Parsed(const std::string& text) {
  auto p = ParseProgram("kiln.program v1 " + text);
  EXPECT_TRUE(p.ok()) << p.status();
  return *std::move(p);
}

// Lowers a program for 16 vector registers of 32 bytes. Returns the MLIR module as text.
inline std::string ModuleText(const Program& program) {
  const auto module = Lower(program, Context());
  EXPECT_TRUE(module.ok()) << module.status();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (**module)->print(stream);
  return text;
}

inline int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Compiles and loads a program. `prepared`, if not null, receives the size in bytes of each array that the
// prepare phase writes. These arrays are parameters after the program's own.
inline absl::StatusOr<Loaded> BuildProgram(const Program& program, const LowerOptions& options = {},
                                           std::vector<size_t>* prepared = nullptr) {
  auto module = Lower(program, Context(), options);
  if (!module.ok()) return module.status();
  if (prepared != nullptr) {
    const auto types = (*module)->lookupSymbol<mlir::func::FuncOp>(program.name).getArgumentTypes();
    for (const mlir::Type type : llvm::drop_begin(types, program.parameters.size())) {
      const auto memref = mlir::cast<mlir::MemRefType>(type);
      const mlir::Type element = memref.getElementType();
      prepared->push_back(memref.getNumElements() *
                          (element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8));
    }
  }
  CodegenOptions codegen = CodegenFor(program);
  for (EntryPoint& entry : codegen.entries) entry.alignment = options.alignment;
  auto object = HostCodegen().Compile(**module, codegen);
  if (!object.ok()) return object.status();
  auto shared = LinkKernel(program, *object);
  if (!shared.ok()) return shared.status();
  return Loaded::FromBytes(*shared);
}

// An array of `T` in memory that is aligned to 64 bytes.
template <typename T>
class Array {
 public:
  explicit Array(size_t count, T value = T())
      : count_(count), data_(static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 127) / 64 * 64))) {
    for (size_t i = 0; i < count; ++i) data_[i] = value;
  }
  Array(const Array& o) : Array(o.count_) { std::memcpy(data_, o.data_, count_ * sizeof(T)); }
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(data_); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  size_t size() const { return count_; }
  T* data() { return data_; }

 private:
  size_t count_;
  T* data_;
};

// Returns an array of small random integers, for which float sums are exact in any order.
template <typename T>
Array<T> Random(size_t count, int seed, int least = -4, int most = 4) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> draw(least, most);
  Array<T> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = static_cast<T>(draw(engine));
  return result;
}

inline int32_t CallKernel(const Loaded& loaded, const std::string& name, std::vector<void*> a) {
  using Function =
      int32_t(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
  a.resize(12);
  return loaded.Get<Function>(name)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

// Calls a loaded program: first the prepare function, if there is one, with the constants and the prepared arrays
// alone, then the kernel. There may be at most 12 arguments, prepared arrays included. Parallel loops use `threads`
// threads. Returns the first status that is not 0, or 0.
inline int32_t CallProgram(const Loaded& loaded, const Program& p, std::vector<void*> arguments,
                           const std::vector<size_t>& prepared, int threads = 2) {
  if (auto* set = loaded.Get<void(int)>(ThreadsSymbol(p.name))) set(threads);
  std::vector<void*> constants(arguments.size(), nullptr);
  for (size_t i = 0; i < p.parameters.size(); ++i)
    if (p.buffers[p.parameters[i]].role == Role::kConstant) constants[i] = arguments[i];
  std::vector<Array<char>> arrays;
  for (const size_t bytes : prepared) arrays.emplace_back(bytes, '\xA5');
  for (Array<char>& array : arrays)
    for (auto* list : {&constants, &arguments}) list->push_back(array.data());
  for (const std::string& name : EntryPoints(p)) {
    if (name == p.name) continue;
    if (const int32_t status = CallKernel(loaded, name, constants); status != 0) return status;
  }
  return CallKernel(loaded, p.name, arguments);
}

// Compiles and runs a program. Appends its outputs, which start as bytes of 0xA5, as in the interpreter. Returns the
// status. If the program cannot be compiled, fails the test and returns -1.
inline int32_t RunCompiled(const Program& p, const std::vector<std::string>& inputs,
                           std::vector<std::string>* outputs, int threads = 2) {
  std::vector<size_t> prepared;
  auto loaded = BuildProgram(p, {}, &prepared);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  if (!loaded.ok()) return -1;
  std::vector<std::string> memory;
  size_t next = 0;
  for (const Id id : p.parameters) {
    memory.push_back(p.buffers[id].role == Role::kOutput ? std::string(BytesOf(p, id), '\xA5')
                                                         : inputs[next++]);
  }
  std::vector<void*> arguments;
  for (std::string& bytes : memory) arguments.push_back(bytes.data());
  const int32_t status = CallProgram(*loaded, p, arguments, prepared, threads);
  for (size_t i = 0; i < memory.size(); ++i) {
    if (p.buffers[p.parameters[i]].role == Role::kOutput) outputs->push_back(memory[i]);
  }
  return status;
}

}  // namespace kiln
