/* Launches the kernels of a product that Kiln exported for a GPU. NAME.c contains this file; the tables and the
 * functions of the product follow it. It uses libcuda.so.1, which it opens when it is first needed, and no header of
 * CUDA. A call allocates nothing, so that a graph may capture it. Any thread may call. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef KILN_DLTENSOR /* NAME.h defines both */
#define KILN_DLTENSOR
typedef struct {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} KilnDLTensor;
#endif
#ifndef KILN_MOST_ARGUMENTS
#define KILN_MOST_ARGUMENTS 1 /* of a kernel */
#endif

typedef struct {
  const char *name, *dtype; /* an empty name: the workspace, of `bytes` bytes */
  int rank;
  const int64_t* shape;
  int64_t bytes;
  unsigned char codes, bits; /* a bit for each code of DLPack that is taken */
} kiln_parameter;

typedef struct {
  int parameter; /* -1: the workspace */
  int64_t offset;
} kiln_argument;

typedef struct {
  const char* kernel;
  int prepare;
  unsigned blocks, threads, shared;
  int count;
  const kiln_argument* arguments;
} kiln_launch;

typedef struct {
  const char *name, *chip;
  const unsigned char* cubin;
  int parameters;
  const kiln_parameter* parameter; /* the last is the workspace */
  int launches;
  const kiln_launch* launch;
  void** kernels; /* of the launches, once `loaded` */
  int loaded;
  uint64_t devices; /* whose kernels may use all of their shared memory */
  pthread_mutex_t lock;
} kiln_product;

enum { KILN_NO_DRIVER = -1, KILN_BAD_ARGUMENT = -2, KILN_SMALL_SHARED = 48 << 10, KILN_DYNAMIC_SHARED = 8 };

static __thread char kiln_message[512];

static int kiln_fail(const kiln_product* p, int status, const char* format, ...) {
  va_list values;
  int length = snprintf(kiln_message, sizeof kiln_message, "%s: ", p->name);
  va_start(values, format);
  vsnprintf(kiln_message + length, sizeof kiln_message - (size_t)length, format, values);
  va_end(values);
  return status;
}

/* The functions of the driver. */
static struct {
  void* library;
  int (*init)(unsigned flags);
  int (*load)(void** library, const void* code, void*, void*, unsigned, void*, void*, unsigned);
  int (*unload)(void* library);
  int (*kernel)(void** kernel, void* library, const char* name);
  int (*set)(int attribute, int value, void* kernel, int device);
  int (*device)(int* device);
  int (*launch)(void* kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, void* stream,
                void** parameters, void** extra);
  int (*describe)(int status, const char** text);
} kiln_driver;

static int kiln_fail_call(const kiln_product* p, const char* call, int status) {
  const char* text = NULL;
  if (kiln_driver.describe(status, &text) != 0 || text == NULL) text = "unknown error";
  return kiln_fail(p, status, "%s: %s (CUresult %d)", call, text, status);
}

static int kiln_open_driver(const kiln_product* p) {
  static const struct {
    const char* name;
    void* place;
  } functions[] = {{"cuInit", &kiln_driver.init},
                   {"cuLibraryLoadData", &kiln_driver.load},
                   {"cuLibraryUnload", &kiln_driver.unload},
                   {"cuLibraryGetKernel", &kiln_driver.kernel},
                   {"cuKernelSetAttribute", &kiln_driver.set},
                   {"cuCtxGetDevice", &kiln_driver.device},
                   {"cuLaunchKernel", &kiln_driver.launch},
                   {"cuGetErrorString", &kiln_driver.describe}};
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) return kiln_fail(p, KILN_NO_DRIVER, "no driver of NVIDIA: %s", dlerror());
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    void* function = dlsym(library, functions[i].name);
    if (function == NULL)
      return kiln_fail(p, KILN_NO_DRIVER, "the driver has no %s; it is older than CUDA 12.0", functions[i].name);
    memcpy(functions[i].place, &function, sizeof function);
  }
  return 0;
}

static int kiln_load_locked(kiln_product* p) {
  void* library = NULL;
  int status = kiln_open_driver(p);
  if (status != 0) return status;
  if ((status = kiln_driver.init(0)) != 0) return kiln_fail_call(p, "cuInit", status);
  status = kiln_driver.load(&library, p->cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (status != 0) {
    kiln_fail_call(p, "cuLibraryLoadData", status);
    strncat(kiln_message, "; the code is for ", sizeof kiln_message - strlen(kiln_message) - 1);
    strncat(kiln_message, p->chip, sizeof kiln_message - strlen(kiln_message) - 1);
    return status;
  }
  for (int i = 0; i < p->launches && status == 0; ++i)
    status = kiln_driver.kernel(&p->kernels[i], library, p->launch[i].kernel);
  if (status == 0) return 0;
  kiln_driver.unload(library);
  return kiln_fail_call(p, "cuLibraryGetKernel", status);
}

/* Lets kernels use more shared memory than they may without asking, once for each device. */
static int kiln_allow_shared_locked(kiln_product* p) {
  int device = 0, asks = 0, status = 0;
  for (int i = 0; i < p->launches; ++i) asks |= p->launch[i].shared > KILN_SMALL_SHARED;
  if (!asks) {
    p->devices = ~UINT64_C(0);
    return 0;
  }
  if ((status = kiln_driver.device(&device)) != 0) return kiln_fail_call(p, "cuCtxGetDevice", status);
  if (device < 64 && (p->devices >> device & 1) != 0) return 0;
  for (int i = 0; i < p->launches; ++i) {
    if (p->launch[i].shared <= KILN_SMALL_SHARED) continue;
    status = kiln_driver.set(KILN_DYNAMIC_SHARED, (int)p->launch[i].shared, p->kernels[i], device);
    if (status != 0) return kiln_fail_call(p, "cuKernelSetAttribute", status);
  }
  if (device < 64) p->devices |= UINT64_C(1) << device;
  return 0;
}

static int kiln_load(kiln_product* p) {
  int status = 0;
  pthread_mutex_lock(&p->lock);
  if (!p->loaded) status = kiln_load_locked(p);
  if (status == 0) {
    p->loaded = 1;
    status = kiln_allow_shared_locked(p);
  }
  pthread_mutex_unlock(&p->lock);
  return status;
}

static int kiln_check_pointers(const kiln_product* p, void* const* pointers, int prepare) {
  for (int i = 0; i < p->launches; ++i) {
    const kiln_launch* l = &p->launch[i];
    for (int a = 0; l->prepare == prepare && a < l->count; ++a) {
      const int at = l->arguments[a].parameter < 0 ? p->parameters : l->arguments[a].parameter;
      const char* name = at == p->parameters ? "the workspace" : p->parameter[at].name;
      if (pointers[at] == NULL) return kiln_fail(p, KILN_BAD_ARGUMENT, "%s is null", name);
      if ((uintptr_t)pointers[at] % 16 != 0)
        return kiln_fail(p, KILN_BAD_ARGUMENT, "%s is not aligned to 16 bytes", name);
    }
  }
  return 0;
}

/* `pointers`: of the parameters, then of the workspace. */
static int kiln_call(kiln_product* p, void* stream, void* const* pointers, int prepare) {
  int status = kiln_check_pointers(p, pointers, prepare);
  if (status != 0) return status;
  if ((status = kiln_load(p)) != 0) return status;
  for (int i = 0; i < p->launches; ++i) {
    const kiln_launch* l = &p->launch[i];
    char* values[KILN_MOST_ARGUMENTS];
    void* places[KILN_MOST_ARGUMENTS];
    if (l->prepare != prepare) continue;
    for (int a = 0; a < l->count; ++a) {
      const kiln_argument* from = &l->arguments[a];
      values[a] = (char*)pointers[from->parameter < 0 ? p->parameters : from->parameter] + from->offset;
      places[a] = &values[a];
    }
    status = kiln_driver.launch(p->kernels[i], l->blocks, 1, 1, l->threads, 1, 1, l->shared, stream, places, NULL);
    if (status != 0) return kiln_fail_call(p, "cuLaunchKernel", status);
  }
  return 0;
}

/* --- Tensors of DLPack */

static int kiln_check_shape(const kiln_product* p, const kiln_parameter* q, const KilnDLTensor* t) {
  int64_t step = 1;
  if (t->ndim != q->rank)
    return kiln_fail(p, KILN_BAD_ARGUMENT, "%s has %d dimensions; %d are wanted", q->name, (int)t->ndim, q->rank);
  for (int d = 0; d < q->rank; ++d) {
    if (t->shape[d] != q->shape[d])
      return kiln_fail(p, KILN_BAD_ARGUMENT, "dimension %d of %s is %lld; %lld is wanted", d, q->name,
                       (long long)t->shape[d], (long long)q->shape[d]);
  }
  for (int d = q->rank - 1; d >= 0 && t->strides != NULL; --d) {
    if (q->shape[d] != 1 && t->strides[d] != step)
      return kiln_fail(p, KILN_BAD_ARGUMENT, "%s is not contiguous: stride %d is %lld; %lld is wanted", q->name, d,
                       (long long)t->strides[d], (long long)step);
    step *= q->shape[d];
  }
  return 0;
}

static int kiln_check_workspace(const kiln_product* p, const kiln_parameter* q, const KilnDLTensor* t) {
  int64_t bytes = ((int64_t)t->bits * t->lanes + 7) / 8;
  for (int d = 0; d < t->ndim; ++d) bytes *= t->shape[d];
  if (bytes >= q->bytes) return 0;
  return kiln_fail(p, KILN_BAD_ARGUMENT, "the workspace has %lld bytes; %lld are wanted", (long long)bytes,
                   (long long)q->bytes);
}

static int kiln_check_tensor(const kiln_product* p, const kiln_parameter* q, const KilnDLTensor* t) {
  enum { kGpu = 2, kManaged = 13 };
  const int is_workspace = q->name[0] == 0;
  const char* name = is_workspace ? "the workspace" : q->name;
  if (t == NULL) return kiln_fail(p, KILN_BAD_ARGUMENT, "the tensor of %s is null", name);
  if (t->device_type != kGpu && t->device_type != kManaged)
    return kiln_fail(p, KILN_BAD_ARGUMENT, "%s is on a device of type %d; type 2, a GPU of NVIDIA, is wanted", name,
                     (int)t->device_type);
  if (is_workspace) return kiln_check_workspace(p, q, t);
  if (t->code > 7 || (1 << t->code & q->codes) == 0 || t->bits != q->bits || t->lanes != 1)
    return kiln_fail(p, KILN_BAD_ARGUMENT, "%s has code %d, %d bits and %d lanes of DLPack; %s is wanted", name, t->code,
                     t->bits, t->lanes, q->dtype);
  return kiln_check_shape(p, q, t);
}

static int kiln_call_dl(kiln_product* p, void* stream, KilnDLTensor* const* tensors, void** pointers, int prepare) {
  const int count = p->parameters + (p->parameter[p->parameters].bytes > 0);
  int device = 0, status = kiln_load(p);
  if (status != 0) return status;
  if ((status = kiln_driver.device(&device)) != 0) return kiln_fail_call(p, "cuCtxGetDevice", status);
  pointers[p->parameters] = NULL;
  for (int i = 0; i < count; ++i) {
    const KilnDLTensor* t = tensors[i];
    if ((status = kiln_check_tensor(p, &p->parameter[i], t)) != 0) return status;
    if (t->device_id != device)
      return kiln_fail(p, KILN_BAD_ARGUMENT, "%s is on GPU %d; the context of this thread is on GPU %d",
                       i == p->parameters ? "the workspace" : p->parameter[i].name, (int)t->device_id, device);
    pointers[i] = (char*)t->data + t->byte_offset;
  }
  return kiln_call(p, stream, pointers, prepare);
}
