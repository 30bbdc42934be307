// Checks of a test program: each failed one prints where and what; main returns report().
#pragma once
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

namespace tr::test {

inline int failures = 0;

inline void failed(const char *file, int line, const std::string &what) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
    failures++;
}

inline int report() {
    if (failures) std::fprintf(stderr, "%d checks failed\n", failures);
    return failures ? 1 : 0;
}

template <class A, class B> void check_equal(const A &expected, const B &actual, const char *text, const char *file, int line) {
    if (expected == actual) return;
    std::ostringstream out;
    out.precision(10);
    out << text << ": expected " << expected << ", got " << actual;
    failed(file, line, out.str());
}

inline void check_contains(std::string_view text, std::string_view part, const char *file, int line) {
    if (text.find(part) == std::string_view::npos) failed(file, line, "\"" + std::string(text) + "\" does not contain \"" + std::string(part) + "\"");
}

inline void check_near(double expected, double actual, double tolerance, const char *text, const char *file, int line) {
    if (actual >= expected - tolerance && actual <= expected + tolerance) return;
    std::ostringstream out;
    out.precision(10);
    out << text << ": expected " << expected << " within " << tolerance << ", got " << actual;
    failed(file, line, out.str());
}

} // namespace tr::test

#define CHECK(condition) ((condition) ? void() : ::tr::test::failed(__FILE__, __LINE__, #condition))
#define CHECK_EQUAL(expected, actual) ::tr::test::check_equal(expected, actual, #actual, __FILE__, __LINE__)
#define CHECK_NEAR(expected, actual, tolerance) ::tr::test::check_near(expected, actual, tolerance, #actual, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) ::tr::test::check_contains(text, part, __FILE__, __LINE__)
