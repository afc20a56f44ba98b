// The bytes of a struct that hold no member. What they contain is left over from whatever lay there before, addresses
// among it, so it differs from one run to the next and is no part of what a seam asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#ifdef __has_builtin
#define TILESTEP_HAS(builtin) __has_builtin(builtin)
#else
#define TILESTEP_HAS(builtin) 0
#endif

// TILESTEP_CLEAR_PADDING(variable) sets them to zero, as far as the compiler can tell which they are. It is
// no function because g++ takes the address of a variable of any type, but a pointer to few.
#if TILESTEP_HAS(__builtin_clear_padding)

#define TILESTEP_CLEAR_PADDING(variable) __builtin_clear_padding(__builtin_addressof(variable))

#elif TILESTEP_HAS(__builtin_dump_struct) && defined(__clang__) && __clang_major__ >= 15

namespace tilestep {

// clang can print a struct: for each member, down to the innermost, it calls a function like printf, with the member
// itself as the last argument. Members' addresses tell which bytes are theirs.
template <class Value>
void clear_padding(Value* value);

template <class Value>
class Members {
 public:
  explicit Members(Value* value) : value_(reinterpret_cast<unsigned char*>(value)) {}

  template <class... Parts>
  void operator()(const char* format, const Parts&... parts) {
    const char* shown = std::strstr(format, " = ");
    if (std::strstr(format, " : ")) unclear_ = true;  // a bit-field: it comes as a copy
    else if (shown && shown[3] && !take_last(parts...)) unclear_ = true;
  }

  void clear_the_rest() {
    for (size_t i = 0; !unclear_ && i < sizeof(Value); ++i) {
      if (!taken_[i]) value_[i] = 0;
    }
  }

 private:
  template <class... Parts>
  bool take_last(const Parts&... parts) {
    bool taken = false;
    ((taken = take(parts)), ...);
    return taken;
  }

  template <class Part>
  bool take(const Part& part) {
    if (take_bytes(std::addressof(part), sizeof part)) return true;
    if constexpr (std::is_pointer_v<Part>) {  // what printf has no letter for, an array among it, comes as its address
      using Pointed = std::remove_pointer_t<Part>;
      if constexpr (std::is_object_v<Pointed>) {
        if (!take_bytes(part, sizeof(Pointed))) return false;
        clear_inside(part);
        return true;
      }
    }
    return false;
  }

  bool take_bytes(const volatile void* address, size_t size) {
    const size_t at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(value_);
    if (at >= sizeof(Value) || size > sizeof(Value) - at) return false;
    for (size_t i = at; i < at + size; ++i) taken_[i] = true;
    return true;
  }

  template <class Pointed>
  static void clear_inside(Pointed* pointed) {
    using Element = std::remove_cv_t<std::remove_all_extents_t<Pointed>>;
    if constexpr (std::is_class_v<Element>) {
      Element* elements = const_cast<Element*>(reinterpret_cast<const volatile Element*>(pointed));
      for (size_t i = 0; i < sizeof(Pointed) / sizeof(Element); ++i) clear_padding(elements + i);
    }
  }

  unsigned char* value_;
  bool taken_[sizeof(Value)] = {};
  bool unclear_ = false;  // a member's place is not known, so no byte is surely padding
};

template <class Value>
void clear_padding(Value* value) {
  Members<Value> members(value);
  __builtin_dump_struct(value, members);
  members.clear_the_rest();
}

}  // namespace tilestep

#define TILESTEP_CLEAR_PADDING(variable) ::tilestep::clear_padding(__builtin_addressof(variable))

#else

#define TILESTEP_CLEAR_PADDING(variable) static_cast<void>(variable)

#endif

#undef TILESTEP_HAS
