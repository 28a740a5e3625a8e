// A libcuda.so.1 for tests: a fake driver with one GPU. The memory of the GPU is memory of the host, and kernels run on
// the CPU, in the emulator (backends/runner/emulator). A library of kernels is one of these:
//
//   a cubin: the driver runs $KILN_FAKE_CUDA/HASH.so in its place, which EmulateKernels made from the same kernels
//            (backends/gpu/emulate.h); HASH is HashOfImage of the cubin
//   a shared object for the CPU with functions K_launch and K_arguments for each kernel K, such as one that C made
//
// $KILN_FAKE_CUDA_INIT is what cuInit returns, and $KILN_FAKE_CUDA_SM the architecture; they are 0 and 90 unless set.
//
// The driver checks arguments. It logs allocations, copies, loads, attributes, launches and faults of kernels to the
// file $KILN_FAKE_CUDA_LOG, if that is set. As with the real driver, a launch whose kernel fails returns no error
// itself, but each later call that needs the context does.
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/runner/emulator/emulator.h"
#include "testing/compiled/hash_of_image.h"

namespace {

enum Result : int {
  kOk = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinary = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kIllegalAddress = 700,
};

constexpr int64_t kMemory = int64_t{1} << 30, kSmallShared = 48 << 10, kMostShared = 227 << 10;
constexpr uint64_t kAlignment = 256;
char g_context;  // its address is the context of the GPU

struct Kernel {
  std::string name;
  int32_t (*launch)(void* const*, const int64_t*, int64_t, int64_t, int64_t) = nullptr;
  int32_t count = 0;
  int64_t most_shared = kSmallShared;
};

struct Library {
  void* handle = nullptr;
  std::string image;  // of a cubin
  std::vector<std::unique_ptr<Kernel>> kernels;
};

// A kernel with its launch sizes and arguments, to run now or when the graph that captured it is replayed.
struct Launch {
  Kernel* kernel = nullptr;
  unsigned blocks = 1, threads = 1, shared = 0;
  std::vector<void*> arguments;
};

struct Stream {
  std::vector<Launch>* captured = nullptr;  // while it captures
};

struct Event {
  std::chrono::steady_clock::time_point at;
};

struct Gpu {
  std::recursive_mutex mutex;
  bool initialized = false;
  int fault = kOk;
  std::map<char*, std::pair<int64_t, std::unique_ptr<char[]>>> memory;  // size, and what is freed
  int64_t used = 0;
  FILE* log = nullptr;
};

Gpu& TheGpu() {
  static auto* const gpu = new Gpu;
  return *gpu;
}

thread_local void* t_context = nullptr;

void Log(const char* format, ...) {
  FILE* const log = TheGpu().log;
  if (log == nullptr) return;
  va_list values;
  va_start(values, format);
  vfprintf(log, format, values);
  va_end(values);
  fflush(log);
}

// Returns an error code if cuInit was not called, or, if `context` is set, if this thread has no context or an earlier
// kernel failed. Otherwise returns kOk.
int Ready(bool context) {
  const Gpu& gpu = TheGpu();
  if (!gpu.initialized) return kNotInitialized;
  if (context && t_context == nullptr) return kInvalidContext;
  return context ? gpu.fault : kOk;
}

// Returns the number of bytes from the address to the end of the GPU allocation that contains it; -1 if none does.
int64_t BytesFrom(const char* address) {
  const Gpu& gpu = TheGpu();
  auto after = gpu.memory.upper_bound(const_cast<char*>(address));
  if (after == gpu.memory.begin()) return -1;
  --after;
  const int64_t left = after->first + after->second.first - address;
  return left > 0 ? left : -1;
}

// Makes the symbols of this library, such as kiln_emulate_launch, visible to the libraries of kernels that it opens.
void ShowEmulator() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&kiln_emulate_launch), &here) != 0 && here.dli_fname != nullptr)
    dlopen(here.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

void* OpenImage(const std::string& image) {
  const int file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size()))
    return nullptr;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fprintf(stderr, "fake cuda: %s\n", dlerror());
  close(file);
  return handle;
}

void* OpenStandIn(const std::string& image) {
  const char* const folder = getenv("KILN_FAKE_CUDA");
  if (folder == nullptr) return nullptr;
  void* const handle =
      dlopen((std::string(folder) + "/" + kiln::HashOfImage(image) + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fprintf(stderr, "fake cuda: %s\n", dlerror());
  return handle;
}

bool InMemory(const void* address, int64_t bytes) {
  const int64_t left = BytesFrom(static_cast<const char*>(address));
  return bytes == 0 || left >= bytes;
}

int Copy(void* to, const void* from, size_t bytes, const void* on_gpu, const char* name) {
  const std::lock_guard lock(TheGpu().mutex);
  Log("%s %zu\n", name, bytes);
  if (const int status = Ready(true); status != kOk) return status;
  if (!InMemory(on_gpu, static_cast<int64_t>(bytes))) return kInvalidValue;
  memcpy(to, from, bytes);
  return kOk;
}

}  // namespace

#define KILN_CUDA extern "C" __attribute__((visibility("default"))) int

KILN_CUDA cuInit(unsigned flags) {
  Gpu& gpu = TheGpu();
  const std::lock_guard lock(gpu.mutex);
  if (!gpu.initialized) {
    if (const char* const path = getenv("KILN_FAKE_CUDA_LOG")) gpu.log = fopen(path, "a");
    ShowEmulator();
  }
  if (const char* const status = getenv("KILN_FAKE_CUDA_INIT")) return atoi(status);
  gpu.initialized = true;
  return flags == 0 ? kOk : kInvalidValue;
}

KILN_CUDA cuDriverGetVersion(int* version) { return *version = 13000, kOk; }
KILN_CUDA cuDeviceGetCount(int* count) { return *count = 1, Ready(false); }
KILN_CUDA cuDeviceGet(int* device, int number) {
  return *device = 0, number == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, static_cast<size_t>(size), "Emulated GPU");
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuDeviceGetUuid(char* uuid, int device) {
  memcpy(uuid, "emulated gpu 001", 16);
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = kMemory;
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuDeviceGetAttribute(int* value, int attribute, int device) {
  static const std::map<int, int> values = {{1, 1024}, {13, 1000000},   {16, 4},     {36, 1000000},
                                            {37, 256}, {38, 128 << 10}, {39, 2048},  {75, 9},
                                            {76, 0},   {81, 228 << 10}, {82, 65536}, {97, kMostShared},
                                            {106, 32}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  *value = found->second;
  const char* const sm = getenv("KILN_FAKE_CUDA_SM");
  if (sm != nullptr && (attribute == 75 || attribute == 76))
    *value = attribute == 75 ? atoi(sm) / 10 : atoi(sm) % 10;
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &g_context;
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuCtxSetCurrent(void* context) {
  t_context = context;
  return context == nullptr || context == &g_context ? Ready(false) : kInvalidContext;
}
KILN_CUDA cuCtxGetDevice(int* device) { return *device = 0, Ready(true); }
KILN_CUDA cuCtxSynchronize() { return Ready(true); }

KILN_CUDA cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  Gpu& gpu = TheGpu();
  const std::lock_guard lock(gpu.mutex);
  Log("cuMemAlloc %zu\n", bytes);
  if (const int status = Ready(true); status != kOk) return status;
  const auto size = static_cast<int64_t>(bytes);
  if (size <= 0) return kInvalidValue;
  if (size > kMemory - gpu.used) return kOutOfMemory;
  auto owned = std::make_unique<char[]>(bytes + kAlignment);
  const auto begin = (reinterpret_cast<uint64_t>(owned.get()) + kAlignment - 1) / kAlignment * kAlignment;
  memset(owned.get(), 0xff, bytes + kAlignment);
  gpu.memory[reinterpret_cast<char*>(begin)] = {size, std::move(owned)};
  gpu.used += size;
  *address = begin;
  return kOk;
}

KILN_CUDA cuMemFree_v2(uint64_t address) {
  Gpu& gpu = TheGpu();
  const std::lock_guard lock(gpu.mutex);
  if (const int status = Ready(true); status != kOk) return status;
  const auto found = gpu.memory.find(reinterpret_cast<char*>(address));
  if (found == gpu.memory.end()) return kInvalidValue;
  gpu.used -= found->second.first;
  gpu.memory.erase(found);
  return kOk;
}

KILN_CUDA cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  void* const at = reinterpret_cast<void*>(to);
  return Copy(at, from, bytes, at, "cuMemcpyHtoD");
}
KILN_CUDA cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  const void* const at = reinterpret_cast<const void*>(from);
  return Copy(to, at, bytes, at, "cuMemcpyDtoH");
}
KILN_CUDA cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  if (!InMemory(reinterpret_cast<void*>(to), static_cast<int64_t>(bytes))) return kInvalidValue;
  const void* const at = reinterpret_cast<const void*>(from);
  return Copy(reinterpret_cast<void*>(to), at, bytes, at, "cuMemcpyDtoD");
}

KILN_CUDA cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  const std::lock_guard lock(TheGpu().mutex);
  if (const int status = Ready(true); status != kOk) return status;
  if (!InMemory(reinterpret_cast<void*>(to), static_cast<int64_t>(bytes))) return kInvalidValue;
  memset(reinterpret_cast<void*>(to), value, bytes);
  return kOk;
}

// --- Kernels: functions of CUDA that load, query and launch them

KILN_CUDA cuLibraryLoadData(Library** library, const void* code, void*, void*, unsigned, void*, void*,
                            unsigned) {
  const std::lock_guard lock(TheGpu().mutex);
  if (const int status = Ready(false); status != kOk) return status;
  const std::string image = kiln::ImageAt(static_cast<const char*>(code));
  if (image.empty()) return kInvalidImage;
  const bool is_cubin = reinterpret_cast<const Elf64_Ehdr*>(image.data())->e_machine != EM_X86_64;
  Log("cuLibraryLoadData %s\n", is_cubin ? kiln::HashOfImage(image).c_str() : "of this machine");
  void* const handle = is_cubin ? OpenStandIn(image) : OpenImage(image);
  if (handle == nullptr) return kNoBinary;
  *library = new Library{.handle = handle, .image = is_cubin ? image : "", .kernels = {}};
  return kOk;
}

KILN_CUDA cuLibraryUnload(Library* library) {
  const std::lock_guard lock(TheGpu().mutex);
  if (library == nullptr) return kInvalidHandle;
  dlclose(library->handle);
  delete library;
  return Ready(false);
}

KILN_CUDA cuLibraryGetKernel(Kernel** kernel, Library* library, const char* name) {
  const std::lock_guard lock(TheGpu().mutex);
  Log("cuLibraryGetKernel %s\n", name);
  const std::string section = std::string(".text.") + name + '\0';
  if (!library->image.empty() && library->image.find(section) == std::string::npos) return kNotFound;
  auto made = std::make_unique<Kernel>();
  made->name = name;
  made->launch =
      reinterpret_cast<decltype(made->launch)>(dlsym(library->handle, (made->name + "_launch").c_str()));
  const auto count =
      reinterpret_cast<int32_t (*)()>(dlsym(library->handle, (made->name + "_arguments").c_str()));
  if (made->launch == nullptr || count == nullptr) return kNotFound;
  made->count = count();
  *kernel = library->kernels.emplace_back(std::move(made)).get();
  return kOk;
}

KILN_CUDA cuKernelSetAttribute(int attribute, int value, Kernel* kernel, int device) {
  constexpr int kDynamicShared = 8;
  Log("cuKernelSetAttribute %d %d %s\n", attribute, value, kernel->name.c_str());
  if (attribute != kDynamicShared || value < 0 || value > kMostShared) return kInvalidValue;
  kernel->most_shared = value;
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuKernelGetAttribute(int* value, int attribute, Kernel*, int device) {
  *value = attribute == 4 ? 32 : 0;  // registers
  return device == 0 ? Ready(false) : kInvalidDevice;
}

KILN_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int threads, size_t shared) {
  const int by_threads = 2048 / threads, by_shared = (228 << 10) / static_cast<int>(shared + 1024);
  *blocks = std::min({by_threads, by_shared, 32});
  return Ready(true);
}

namespace {

int Run(const Launch& launch) {
  if (const int status = Ready(true); status != kOk) return status;
  std::vector<void*> table = launch.arguments;
  std::vector<int64_t> bytes;
  for (void* const argument : table)
    bytes.push_back(std::max<int64_t>(BytesFrom(static_cast<char*>(argument)), 0));
  const kiln::Emulation emulation({});
  if (launch.kernel->launch(table.data(), bytes.data(), launch.blocks, launch.threads, launch.shared) == kOk)
    return kOk;
  fprintf(stderr, "fake cuda: %s\n", emulation.fault().c_str());
  Log("fault: %s\n", emulation.fault().c_str());
  TheGpu().fault = kIllegalAddress;
  return kOk;
}

}  // namespace

KILN_CUDA cuLaunchKernel(Kernel* kernel, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                         unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                         Stream* stream, void** parameters, void** extra) {
  const std::lock_guard lock(TheGpu().mutex);
  Log("cuLaunchKernel %s blocks %u threads %u shared %u arguments %d\n", kernel->name.c_str(), blocks,
      threads, shared, kernel->count);
  if (const int status = Ready(true); status != kOk) return status;
  if (blocks == 0 || blocks >= 1u << 31 || threads == 0 || threads > 1024 || blocks_y * blocks_z != 1 ||
      threads_y * threads_z != 1 || shared > kernel->most_shared || extra != nullptr)
    return kInvalidValue;
  Launch launch{kernel, blocks, threads, shared, {}};
  for (int32_t a = 0; a < kernel->count; ++a) launch.arguments.push_back(*static_cast<void**>(parameters[a]));
  if (stream == nullptr || stream->captured == nullptr) return Run(launch);
  return stream->captured->push_back(std::move(launch)), kOk;
}

// --- Streams, and graphs: a stream captures launches to a graph, which can be replayed

KILN_CUDA cuStreamCreate(Stream** stream, unsigned) { return *stream = new Stream, Ready(true); }
KILN_CUDA cuStreamDestroy_v2(Stream* stream) { return delete stream, Ready(true); }
KILN_CUDA cuStreamSynchronize(Stream*) { return Ready(true); }
KILN_CUDA cuStreamBeginCapture_v2(Stream* stream, int) {
  if (stream == nullptr || stream->captured != nullptr) return kInvalidValue;
  return stream->captured = new std::vector<Launch>, Ready(true);
}
KILN_CUDA cuStreamEndCapture(Stream* stream, std::vector<Launch>** graph) {
  if (stream == nullptr || stream->captured == nullptr) return kInvalidValue;
  return *graph = std::exchange(stream->captured, nullptr), Ready(true);
}
KILN_CUDA cuGraphInstantiateWithFlags(std::vector<Launch>** replay, std::vector<Launch>* graph,
                                      unsigned long long) {
  return *replay = new std::vector<Launch>(*graph), Ready(true);
}
KILN_CUDA cuGraphDestroy(std::vector<Launch>* graph) { return delete graph, Ready(true); }
KILN_CUDA cuGraphExecDestroy(std::vector<Launch>* replay) { return delete replay, Ready(true); }
KILN_CUDA cuGraphLaunch(std::vector<Launch>* replay, Stream*) {
  const std::lock_guard lock(TheGpu().mutex);
  Log("cuGraphLaunch of %zu\n", replay->size());
  for (const Launch& launch : *replay)
    if (const int status = Run(launch); status != kOk) return status;
  return kOk;
}

// --- Events, which hold times of the host's clock, and messages of error codes

KILN_CUDA cuEventCreate(Event** event, unsigned) { return *event = new Event, Ready(true); }
KILN_CUDA cuEventDestroy_v2(Event* event) { return delete event, Ready(true); }
KILN_CUDA cuEventRecord(Event* event, void*) {
  event->at = std::chrono::steady_clock::now();
  return Ready(true);
}
KILN_CUDA cuEventSynchronize(Event*) { return Ready(true); }
KILN_CUDA cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return Ready(true);
}

KILN_CUDA cuGetErrorString(int status, const char** text) {
  static const std::map<int, const char*> texts = {
      {kOk, "no error"},
      {kInvalidValue, "invalid argument"},
      {kOutOfMemory, "out of memory"},
      {kNotInitialized, "initialization error"},
      {kNoDevice, "no CUDA-capable device is detected"},
      {kInvalidDevice, "invalid device ordinal"},
      {kInvalidImage, "device kernel image is invalid"},
      {kInvalidContext, "invalid device context"},
      {kNoBinary, "no kernel image is available for execution on the device"},
      {kInvalidHandle, "invalid resource handle"},
      {kNotFound, "named symbol not found"},
      {kIllegalAddress, "an illegal memory access was encountered"}};
  const auto found = texts.find(status);
  *text = found == texts.end() ? nullptr : found->second;
  return found == texts.end() ? kInvalidValue : kOk;
}
