#include "backends/gpu/driver/cuda_device.h"

#include <dlfcn.h>

#include <cstdio>
#include <utility>

#include "backends/gpu/driver/json_text.h"

namespace kiln {
namespace {

// Numbers of NVIDIA's driver interface, whose header is not included: statuses that its functions return, an attribute
// of kernels, a flag of streams and a mode of captures.
enum Status : int {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,  // a library to link with, in the place of the driver
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinary = 209,
  kNotFound = 500,
  kOutOfResources = 701,
};
constexpr int kDynamicShared = 8;     // attribute of a kernel
constexpr unsigned kNonBlocking = 1;  // of a stream: it does not wait for the null stream
constexpr int kCaptureOfThread = 1;
constexpr int64_t kSmallShared = 48 << 10;

}  // namespace

struct CudaDevice::Functions {
  int (*init)(unsigned);
  int (*version)(int*);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*uuid)(char*, int);
  int (*memory)(size_t*, int);
  int (*attribute)(int*, int, int);
  int (*retain)(void**, int);
  int (*current)(void*);
  int (*synchronize)();
  int (*allocate)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*upload)(uint64_t, const void*, size_t);
  int (*download)(void*, uint64_t, size_t);
  int (*copy)(uint64_t, uint64_t, size_t);
  int (*fill)(uint64_t, unsigned char, size_t);
  int (*load)(void**, const void*, void*, void*, unsigned, void*, void*, unsigned);
  int (*unload)(void*);
  int (*kernel)(void**, void*, const char*);
  int (*set)(int, int, void*, int);
  int (*occupancy)(int*, void*, int, size_t);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**);
  int (*create_stream)(void**, unsigned);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*destroy_graph)(void*);
  int (*replay)(void*, void*);
  int (*destroy_replay)(void*);
  int (*create_event)(void**, unsigned);
  int (*record)(void*, void*);
  int (*wait)(void*);
  int (*elapsed)(float*, void*, void*);
  int (*describe)(int, const char**);

  // Finds all functions in the driver's library. Returns null, or the name of the first function that the library
  // lacks.
  const char* Find(void* library) {
    const std::pair<const char*, void*> all[] = {{"cuInit", &init},
                                                 {"cuDriverGetVersion", &version},
                                                 {"cuDeviceGet", &device},
                                                 {"cuDeviceGetName", &name},
                                                 {"cuDeviceGetUuid", &uuid},
                                                 {"cuDeviceTotalMem_v2", &memory},
                                                 {"cuDeviceGetAttribute", &attribute},
                                                 {"cuDevicePrimaryCtxRetain", &retain},
                                                 {"cuCtxSetCurrent", &current},
                                                 {"cuCtxSynchronize", &synchronize},
                                                 {"cuMemAlloc_v2", &allocate},
                                                 {"cuMemFree_v2", &free},
                                                 {"cuMemcpyHtoD_v2", &upload},
                                                 {"cuMemcpyDtoH_v2", &download},
                                                 {"cuMemcpyDtoD_v2", &copy},
                                                 {"cuMemsetD8_v2", &fill},
                                                 {"cuLibraryLoadData", &load},
                                                 {"cuLibraryUnload", &unload},
                                                 {"cuLibraryGetKernel", &kernel},
                                                 {"cuKernelSetAttribute", &set},
                                                 {"cuOccupancyMaxActiveBlocksPerMultiprocessor", &occupancy},
                                                 {"cuLaunchKernel", &launch},
                                                 {"cuStreamCreate", &create_stream},
                                                 {"cuStreamBeginCapture_v2", &begin_capture},
                                                 {"cuStreamEndCapture", &end_capture},
                                                 {"cuGraphInstantiateWithFlags", &instantiate},
                                                 {"cuGraphDestroy", &destroy_graph},
                                                 {"cuGraphLaunch", &replay},
                                                 {"cuGraphExecDestroy", &destroy_replay},
                                                 {"cuEventCreate", &create_event},
                                                 {"cuEventRecord", &record},
                                                 {"cuEventSynchronize", &wait},
                                                 {"cuEventElapsedTime", &elapsed},
                                                 {"cuGetErrorString", &describe}};
    for (const auto& [symbol, place] : all) {
      void* const found = dlsym(library, symbol);
      if (found == nullptr) return symbol;
      *static_cast<void**>(place) = found;
    }
    return nullptr;
  }
};

std::string CudaDevice::Open() {
  static Functions functions;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    absent_ = true;
    return std::string("no driver of NVIDIA: ") + dlerror();
  }
  if (const char* const missing = functions.Find(library))
    return std::string("the driver has no ") + missing + "; it is older than CUDA 12.0";
  functions_ = &functions;
  void* context = nullptr;
  if (Keep("cuInit", functions.init(0)) && Keep("cuDeviceGet", functions.device(&device_, 0)) &&
      Keep("cuDevicePrimaryCtxRetain", functions.retain(&context, device_)))
    Keep("cuCtxSetCurrent", functions.current(context));
  absent_ = status_ == kNoDevice || status_ == kStubLibrary;
  for (void*& event : events_) ok() && Keep("cuEventCreate", functions.create_event(&event, 0));
  return ok() ? FillMachine() : error_;
}

std::string CudaDevice::FillMachine() {
  const Functions& f = *functions_;
  char name[256] = "", uuid[16] = "";
  size_t memory = 0;
  Keep("cuDriverGetVersion", f.version(&machine_.driver));
  Keep("cuDeviceGetName", f.name(name, sizeof name, device_));
  Keep("cuDeviceGetUuid", f.uuid(uuid, device_));
  Keep("cuDeviceTotalMem", f.memory(&memory, device_));
  int l2 = 0;
  const std::pair<int, int*> attributes[] = {{13, &machine_.clock_khz},
                                             {16, &machine_.sms},
                                             {36, &machine_.memory_clock_khz},
                                             {37, &machine_.memory_bits},
                                             {38, &l2},
                                             {39, &machine_.threads_per_sm},
                                             {75, &machine_.major},
                                             {76, &machine_.minor},
                                             {81, &machine_.shared_per_sm},
                                             {82, &machine_.registers_per_sm},
                                             {97, &machine_.shared_per_block},
                                             {106, &machine_.blocks_per_sm}};
  for (const auto& [attribute, value] : attributes)
    ok() && Keep("cuDeviceGetAttribute", f.attribute(value, attribute, device_));
  machine_.name = name;
  for (const char byte : uuid) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    machine_.uuid += digits;
  }
  machine_.memory_bytes = static_cast<int64_t>(memory);
  machine_.l2_bytes = l2;
  return error_;
}

std::string CudaMachine::Fingerprint() const {
  return name + ", sm_" + std::to_string(major) + std::to_string(minor) + ", " + std::to_string(sms) + " SMs";
}

std::string CudaMachine::Json() const {
  std::string text = "{\"name\": " + JsonText(name) + ", \"uuid\": " + JsonText(uuid) +
                     ", \"fingerprint\": " + JsonText(Fingerprint());
  const std::pair<const char*, int64_t> numbers[] = {{"driver", driver},
                                                     {"sm", major * 10 + minor},
                                                     {"sms", sms},
                                                     {"clock_khz", clock_khz},
                                                     {"memory_clock_khz", memory_clock_khz},
                                                     {"memory_bits", memory_bits},
                                                     {"l2_bytes", l2_bytes},
                                                     {"memory_bytes", memory_bytes},
                                                     {"shared_per_block", shared_per_block},
                                                     {"shared_per_sm", shared_per_sm},
                                                     {"registers_per_sm", registers_per_sm},
                                                     {"threads_per_sm", threads_per_sm},
                                                     {"blocks_per_sm", blocks_per_sm}};
  for (const auto& [key, value] : numbers) text += std::string(", \"") + key + "\": " + std::to_string(value);
  return text + "}";
}

bool CudaDevice::Keep(const char* call, int status) {
  if (status == 0 || !ok()) return ok() && status == 0;
  status_ = status;
  const char* text = nullptr;
  if (functions_->describe(status, &text) != 0 || text == nullptr) text = "unknown error";
  error_ = std::string(call) + ": " + text + " (CUresult " + std::to_string(status) + ")";
  return false;
}

bool CudaDevice::sticky() const {
  switch (status_) {
    case 0:
    case kInvalidValue:
    case kOutOfMemory:
    case kInvalidImage:
    case kNoBinary:
    case kNotFound:
    case kOutOfResources:
      return false;
  }
  return true;
}

void CudaDevice::Forgive() {
  if (sticky()) return;
  status_ = 0;
  error_.clear();
}

uint64_t CudaDevice::Allocate(int64_t bytes) {
  uint64_t address = 0;
  if (ok()) Keep("cuMemAlloc", functions_->allocate(&address, static_cast<size_t>(bytes)));
  return address;
}

void CudaDevice::Free(uint64_t address) {
  if (ok() && address != 0) Keep("cuMemFree", functions_->free(address));
}

void CudaDevice::Upload(uint64_t to, const void* from, int64_t bytes) {
  if (ok() && bytes > 0) Keep("cuMemcpyHtoD", functions_->upload(to, from, static_cast<size_t>(bytes)));
}

void CudaDevice::Download(void* to, uint64_t from, int64_t bytes) {
  if (ok() && bytes > 0) Keep("cuMemcpyDtoH", functions_->download(to, from, static_cast<size_t>(bytes)));
}

void CudaDevice::Copy(uint64_t to, uint64_t from, int64_t bytes) {
  if (ok() && bytes > 0) Keep("cuMemcpyDtoD", functions_->copy(to, from, static_cast<size_t>(bytes)));
}

void CudaDevice::Fill(uint64_t at, uint8_t value, int64_t bytes) {
  if (ok() && bytes > 0) Keep("cuMemsetD8", functions_->fill(at, value, static_cast<size_t>(bytes)));
}

void* CudaDevice::Load(const std::string& cubin) {
  void* library = nullptr;
  if (ok())
    Keep("cuLibraryLoadData",
         functions_->load(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  return library;
}

void CudaDevice::Unload(void* library) {
  if (ok() && library != nullptr) Keep("cuLibraryUnload", functions_->unload(library));
}

void* CudaDevice::Kernel(void* library, const std::string& name, int64_t shared) {
  void* kernel = nullptr;
  if (ok() && Keep("cuLibraryGetKernel", functions_->kernel(&kernel, library, name.c_str())) &&
      shared > kSmallShared)
    Keep("cuKernelSetAttribute", functions_->set(kDynamicShared, static_cast<int>(shared), kernel, device_));
  return kernel;
}

int CudaDevice::BlocksPerSm(void* kernel, int64_t threads, int64_t shared) {
  int blocks = 0;
  if (ok())
    Keep("cuOccupancyMaxActiveBlocksPerMultiprocessor",
         functions_->occupancy(&blocks, kernel, static_cast<int>(threads), static_cast<size_t>(shared)));
  return blocks;
}

void CudaDevice::Launch(void* kernel, const CudaGrid& grid, std::vector<uint64_t> arguments) {
  if (!ok()) return;
  std::vector<void*> places;
  for (uint64_t& argument : arguments) places.push_back(&argument);
  Keep("cuLaunchKernel",
       functions_->launch(kernel, static_cast<unsigned>(grid.blocks), 1, 1,
                          static_cast<unsigned>(grid.threads), 1, 1, static_cast<unsigned>(grid.shared),
                          captured_, places.data(), nullptr));
}

void* CudaDevice::Capture(const std::function<void()>& launches) {
  void *stream = capturing_, *graph = nullptr, *replay = nullptr;
  if (!ok() ||
      (stream == nullptr && !Keep("cuStreamCreate", functions_->create_stream(&stream, kNonBlocking))))
    return nullptr;
  capturing_ = stream;
  if (!Keep("cuStreamBeginCapture", functions_->begin_capture(stream, kCaptureOfThread))) return nullptr;
  captured_ = stream;
  launches();
  captured_ = nullptr;
  const int ended = functions_->end_capture(stream, &graph);
  if (!Keep("cuStreamEndCapture", ended)) return nullptr;
  Keep("cuGraphInstantiate", functions_->instantiate(&replay, graph, 0));
  Keep("cuGraphDestroy", functions_->destroy_graph(graph));
  return replay;
}

void CudaDevice::Replay(void* captured) {
  if (ok()) Keep("cuGraphLaunch", functions_->replay(captured, nullptr));
}

void CudaDevice::Forget(void* captured) {
  if (ok() && captured != nullptr) Keep("cuGraphExecDestroy", functions_->destroy_replay(captured));
}

void CudaDevice::Synchronize() {
  if (ok()) Keep("cuCtxSynchronize", functions_->synchronize());
}

void CudaDevice::Mark(int event) {
  if (ok()) Keep("cuEventRecord", functions_->record(events_[event], nullptr));
}

double CudaDevice::SecondsBetweenMarks() {
  float milliseconds = 0;
  if (ok() && Keep("cuEventSynchronize", functions_->wait(events_[1])))
    Keep("cuEventElapsedTime", functions_->elapsed(&milliseconds, events_[0], events_[1]));
  return milliseconds * 1e-3;
}

}  // namespace kiln
