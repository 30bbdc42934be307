// The one exception of the library. It is thrown inside and turned into a status and a message at the C ABI.
#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "tokenrouter.h"

namespace tr {

class Error : public std::exception {
public:
    Error(tr_status status, std::string message) : status_(status), message_(std::move(message)) {}
    tr_status status() const { return status_; }
    const char *what() const noexcept override { return message_.c_str(); }

private:
    tr_status status_;
    std::string message_;
};

// Throws an Error with a printf-style message: lower case, what was expected, what was found, what to do.
[[noreturn]] void fail(tr_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Text from a file, safe to print in a message: quoted, control and non-ASCII bytes escaped, cut after 80 bytes.
std::string quoted(std::string_view text);

// printf into a string.
std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace tr
