// Runs the built kiln command and keeps what it says.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {

struct Ran {
  int exit_code = -1;  // -1 if a signal ended it
  std::string out, err;

  // Of `out`; null if that is no JSON.
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

// Arguments without the command's own name. `folder`: working directory; empty: the current one.
Ran RunKiln(const std::vector<std::string>& arguments, const std::string& folder = "");

// The same in two parts, so that a signal may be sent in between.
class KilnProcess {
 public:
  explicit KilnProcess(const std::vector<std::string>& arguments, const std::string& folder = "");
  pid_t pid() const { return pid_; }
  // What it has written to standard error so far.
  std::string Errors() const;
  Ran Wait();

 private:
  pid_t pid_ = -1;
  std::string out_, err_;  // paths
};

// A new empty folder, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // The path of a new file.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);

}  // namespace kiln
