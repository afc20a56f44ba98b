// TILESTEP_FAKE_CARD="name=value name=value": how this card differs from an idle H200.
#include "settings.h"

#include <cstdlib>
#include <sstream>

std::string setting(const char* name, const std::string& otherwise) {
  const char* all = std::getenv("TILESTEP_FAKE_CARD");
  std::istringstream words(all ? all : "");
  std::string word, wanted = std::string(name) + "=";
  while (words >> word)
    if (word.rfind(wanted, 0) == 0) return word.substr(wanted.size());
  return otherwise;
}

long setting(const char* name, long otherwise) {
  std::string found = setting(name, std::string());
  return found.empty() ? otherwise : std::atol(found.c_str());
}
