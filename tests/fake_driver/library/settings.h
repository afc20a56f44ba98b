// How a test describes the card, and how it hears of what was done.
#pragma once
#include <string>

// The value of a name in TILESTEP_FAKE_CARD.
long setting(const char* name, long otherwise);
std::string setting(const char* name, const std::string& otherwise);

// One line into the file that TILESTEP_FAKE_LOG names.
void say(const std::string& line);
