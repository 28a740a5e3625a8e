// Identifies the image of a GPU kernel by a hash, so that the fake driver of tests (tests/gpu/fake_cuda/fake_cuda.cc)
// finds the code that it runs in place of the cubin.
#pragma once

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace kiln {

// Returns the bytes of the ELF file at this place in memory; none if it is no ELF file.
inline std::string ImageAt(const char* code) {
  if (std::memcmp(code, ELFMAG, SELFMAG) != 0) return "";
  Elf64_Ehdr head;
  std::memcpy(&head, code, sizeof head);
  uint64_t end = std::max(head.e_shoff + uint64_t{head.e_shnum} * head.e_shentsize,
                          head.e_phoff + uint64_t{head.e_phnum} * head.e_phentsize);
  for (int i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, code + head.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS) end = std::max(end, section.sh_offset + section.sh_size);
  }
  return {code, end};
}

// Returns FNV-1a of the bytes, as 16 hexadecimal digits.
inline std::string HashOfImage(const std::string& image) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : image) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

}  // namespace kiln
