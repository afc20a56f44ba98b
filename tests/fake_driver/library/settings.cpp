// TILESTEP_FAKE_CARD="name=value name=value": how this card differs from an idle H200.
#include "settings.h"

#include <cstdlib>

std::string setting(const char* name, const std::string& otherwise) {
  const char* all = std::getenv("TILESTEP_FAKE_CARD");
  std::string words = std::string(" ") + (all ? all : ""), wanted = std::string(" ") + name + "=";
  size_t at = words.find(wanted);
  if (at == std::string::npos) return otherwise;
  at += wanted.size();
  return words.substr(at, words.find(' ', at) - at);
}

long setting(const char* name, long otherwise) {
  std::string found = setting(name, std::string());
  return found.empty() ? otherwise : std::atol(found.c_str());
}
