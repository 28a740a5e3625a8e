// Runs the built kiln command and captures its output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {

struct Ran {
  int exit_code = -1;  // -1 if a signal ended it
  std::string out, err;

  // Returns `out` parsed as JSON; a discarded value if it is no JSON.
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

// Runs kiln with these arguments (without the command's name). `folder`: working directory; empty: the
// current one.
Ran RunKiln(const std::vector<std::string>& arguments, const std::string& folder = "");

// Like RunKiln, but started and awaited separately, so that the test can send a signal in between.
class KilnProcess {
 public:
  explicit KilnProcess(const std::vector<std::string>& arguments, const std::string& folder = "");
  pid_t pid() const { return pid_; }
  // Returns the text on standard error so far.
  std::string Errors() const;
  Ran Wait();

 private:
  pid_t pid_ = -1;
  std::string out_, err_;  // paths of files with the output
};

// A new empty folder that is deleted with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Writes a new file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string ReadText(const std::string& path);

}  // namespace kiln
