#include "tests/support/run_kiln.h"
#include "test_paths.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lang/base/check.h"

namespace kiln {
namespace {

std::string NewFile() {
  std::string path = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
  const int file = mkstemp(path.data());
  KILN_CHECK(file >= 0);
  close(file);
  return path;
}

}  // namespace

std::string ReadText(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

nlohmann::json Ran::json() const { return nlohmann::json::parse(out, nullptr, false); }

KilnProcess::KilnProcess(const std::vector<std::string>& arguments, const std::string& folder)
    : out_(NewFile()), err_(NewFile()) {
  const std::string program = std::string(KILN_BUILD_DIR) + "/kiln";
  std::vector<char*> argv{const_cast<char*>("kiln")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(open(out_.c_str(), O_WRONLY), 1);
  dup2(open(err_.c_str(), O_WRONLY), 2);
  execv(program.c_str(), argv.data());
  _exit(127);
}

std::string KilnProcess::Errors() const { return ReadText(err_); }

Ran KilnProcess::Wait() {
  int status = 0;
  KILN_CHECK(waitpid(pid_, &status, 0) == pid_);
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadText(out_), ReadText(err_)};
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
  return ran;
}

Ran RunKiln(const std::vector<std::string>& arguments, const std::string& folder) {
  return KilnProcess(arguments, folder).Wait();
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
  KILN_CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& text) const {
  std::ofstream(*this / name, std::ios::binary) << text;
  return *this / name;
}

}  // namespace kiln
