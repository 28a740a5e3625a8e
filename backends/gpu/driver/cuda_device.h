// A GPU, by the functions of NVIDIA's driver, which is opened when the program runs. No header of CUDA is needed.
//
//   CudaDevice gpu;
//   if (std::string problem = gpu.Open(); !problem.empty()) ...
//   const uint64_t a = gpu.Allocate(bytes);
//   gpu.Upload(a, values, bytes);
//   gpu.Launch(kernel, {.blocks = 8, .threads = 128}, {a});
//   gpu.Synchronize();
//   if (!gpu.ok()) ... gpu.error() ...
//
// The first failure is kept; what is called after it does nothing. After some failures, such as an illegal address, the
// driver refuses everything until the process ends: `sticky()`. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

struct CudaMachine {
  std::string name, uuid;
  int driver = 0;            // 13000 for CUDA 13.0
  int major = 0, minor = 0;  // of the compute capability
  int sms = 0, clock_khz = 0, memory_clock_khz = 0, memory_bits = 0;
  int64_t l2_bytes = 0, memory_bytes = 0;
  int shared_per_block = 0, shared_per_sm = 0, registers_per_sm = 0, threads_per_sm = 0, blocks_per_sm = 0;

  // Returns the name of this kind of GPU for records: "NVIDIA H100 80GB HBM3, sm_90, 132 SMs".
  std::string Fingerprint() const;
  // Returns all as a JSON object.
  std::string Json() const;
};

struct CudaGrid {
  int64_t blocks = 1, threads = 1, shared = 0;
};

class CudaDevice {
 public:
  // Opens the driver and its first device: libcuda.so.1. Returns why that fails, or "".
  std::string Open();
  // True if Open failed since there is no driver or no device, and nothing is wrong with them.
  bool absent() const { return absent_; }
  const CudaMachine& machine() const { return machine_; }

  uint64_t Allocate(int64_t bytes);
  void Free(uint64_t address);
  void Upload(uint64_t to, const void* from, int64_t bytes);
  void Download(void* to, uint64_t from, int64_t bytes);
  void Copy(uint64_t to, uint64_t from, int64_t bytes);  // on the GPU
  void Fill(uint64_t at, uint8_t value, int64_t bytes);

  // Loads a cubin, which must live until Unload. Returns null if that fails.
  void* Load(const std::string& cubin);
  void Unload(void* library);
  // Returns a kernel of the library, and allows it `shared` bytes of dynamic shared memory. Null if there is none.
  void* Kernel(void* library, const std::string& name, int64_t shared);
  int BlocksPerSm(void* kernel, int64_t threads, int64_t shared);
  void Launch(void* kernel, const CudaGrid& grid, std::vector<uint64_t> arguments);
  void Synchronize();

  // Keeps what `launches` launches, and runs none of it. Until Forget, each Replay runs all of it in order, with one call of
  // the driver, so that the host takes no time between kernels.
  void* Capture(const std::function<void()>& launches);
  void Replay(void* captured);
  void Forget(void* captured);

  // Marks a moment of the stream: number 0 or 1.
  void Mark(int event);
  // Waits for the second mark, and returns the seconds between the two; 0 if that fails.
  double SecondsBetweenMarks();

  bool ok() const { return status_ == 0; }
  int status() const { return status_; }
  const std::string& error() const { return error_; }
  bool sticky() const;
  // Forgets a failure that is not sticky.
  void Forgive();

 private:
  struct Functions;
  std::string FillMachine();
  // Keeps the failure of a call if it is the first. Returns whether this call and all before it succeeded.
  bool Keep(const char* call, int status);

  const Functions* functions_ = nullptr;
  CudaMachine machine_;
  int device_ = 0;
  void* events_[2] = {};
  void* capturing_ = nullptr;  // the stream for Capture, once it was used
  void* captured_ = nullptr;   // the stream of Launch: null, but for the time of Capture
  bool absent_ = false;
  int status_ = 0;
  std::string error_;
};

}  // namespace kiln
