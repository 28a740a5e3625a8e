#include "lang/target/gpu_target.h"

namespace kiln {

Target GpuTarget(const Gpu& gpu) {
  Target target;
  target.name = "cuda";
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = std::string(gpu.sm);
  target.gpu = &gpu;
  target.cores = gpu.sms;
  target.vector_bytes = 16;  // the widest access of a thread
  target.vector_registers = gpu.registers_per_thread / 4;
  target.max_unrolled = 4096;  // instructions: enough for a row in registers with a function for each element
  target.l1_bytes = gpu.shared_per_sm;
  target.l2_bytes = target.l3_bytes = gpu.l2_bytes;
  return target;
}

}  // namespace kiln
