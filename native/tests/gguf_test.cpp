// The GGUF reader: what it reads, what it refuses and in which words, and that no cut or flipped byte gets past it.
#include <cstring>

#include "gguf/file.h"
#include "support/check.h"
#include "support/gguf_samples.h"

using namespace tr;
using namespace tr::test;

namespace {

// The status and message of parsing.
std::pair<tr_status, std::string> parse(const Bytes &bytes) {
    try {
        gguf::Contents::parse(bytes);
        return {TR_OK, ""};
    } catch (const Error &e) {
        return {e.status(), e.what()};
    }
}

void test_values() {
    const Bytes bytes = good_writer().bytes();
    const gguf::Contents file = gguf::Contents::parse(bytes);
    const gguf::Metadata &m = file.metadata();
    CHECK_EQUAL(9u, m.size());
    CHECK_EQUAL("tiny", m.string("general.name"));
    CHECK_EQUAL(7, m.integer("u32", 0, 100));
    CHECK_EQUAL(-3, m.integer("i16", -3, 0));
    CHECK_EQUAL(int64_t{1} << 40, m.integer("u64", 0, INT64_MAX));
    CHECK_EQUAL(0.5, m.number("f32", 0, 1));
    CHECK_EQUAL(0.25, m.number("f64", 0, 1));
    CHECK_EQUAL(3u, *m.find_array_size("strings"));
    CHECK(!m.find_integer("absent", 0, 1) && !m.find_string("absent") && !m.find_number("absent", 0, 1) && !m.find_array_size("absent"));

    const gguf::Tensor *matrix = file.find("matrix"), *vector = file.find("vector");
    CHECK_EQUAL(2u, file.tensors().size());
    CHECK(matrix && vector && !file.find("absent"));
    CHECK(matrix->type == quant::Type::Q8_0 && matrix->dims[0] == 32 && matrix->dims[1] == 2 && matrix->dims[2] == 1);
    CHECK_EQUAL(64u, matrix->elements);
    CHECK_EQUAL(68u, matrix->bytes); // two blocks of 34 bytes
    CHECK_EQUAL(96, vector->data - matrix->data); // 68 rounded up to the alignment of 32
    CHECK_EQUAL(1, *matrix->data);
}

void test_getters() {
    const Bytes bytes = good_writer().bytes();
    const gguf::Contents file = gguf::Contents::parse(bytes);
    const gguf::Metadata &m = file.metadata();
    const auto message = [](auto &&f) -> std::string {
        try {
            f();
        } catch (const Error &e) {
            CHECK_EQUAL(TR_ERR_FORMAT, e.status());
            return e.what();
        }
        return "no error";
    };
    CHECK_CONTAINS(message([&] { m.integer("absent", 0, 1); }), "\"absent\" is missing");
    CHECK_CONTAINS(message([&] { m.string("absent"); }), "\"absent\" is missing");
    CHECK_CONTAINS(message([&] { m.number("absent", 0, 1); }), "\"absent\" is missing");
    CHECK_CONTAINS(message([&] { m.integer("f32", 0, 1); }), "is of type f32; expected an integer");
    CHECK_CONTAINS(message([&] { m.integer("strings", 0, 1); }), "is of type array; expected an integer");
    CHECK_CONTAINS(message([&] { m.number("u32", 0, 1); }), "is of type u32; expected a floating-point number");
    CHECK_CONTAINS(message([&] { m.string("bool"); }), "is of type bool; expected a string");
    CHECK_CONTAINS(message([&] { m.find_array_size("u32"); }), "expected an array");
    CHECK_CONTAINS(message([&] { m.integer("u32", 8, 9); }), "is 7; expected 8 to 9");
    CHECK_CONTAINS(message([&] { m.number("f32", 0.6, 1); }), "is 0.5; expected 0.6 to 1");
}

// NaN is within no range.
void test_nan() {
    GgufWriter w;
    w.f32("nan", __builtin_nanf(""));
    const Bytes bytes = w.bytes();
    const gguf::Contents file = gguf::Contents::parse(bytes);
    try {
        file.metadata().number("nan", -1e30, 1e30);
        CHECK(false);
    } catch (const Error &e) {
        CHECK_CONTAINS(e.what(), "is nan");
    }
}

void test_samples() {
    for (const Sample &s : gguf_samples()) {
        const auto [status, message] = parse(s.bytes);
        if (status != s.status || message.find(s.message) == std::string::npos) {
            failed(__FILE__, __LINE__, s.name + ": status " + std::to_string(status) + ", \"" + message + "\"; expected " +
                                           std::to_string(s.status) + ", \"..." + s.message + "...\"");
        }
    }
}

// Cut anywhere, the file is refused, and nothing behind the cut is read (the bytes lie at the end of their allocation, for
// the address sanitizer to see).
void test_truncation() {
    const Bytes whole = good_writer().bytes();
    for (size_t n = 0; n < whole.size(); n++) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
        const auto [status, message] = parse(part);
        if (status == TR_OK) failed(__FILE__, __LINE__, format("accepted the first %zu bytes", n));
    }
}

// With any one byte replaced, it is refused or read; read means every tensor lies within it.
void test_flips() {
    Bytes bytes = good_writer().bytes();
    for (uint8_t &byte : bytes) {
        const uint8_t kept = byte;
        for (const uint8_t other : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            byte = other;
            try {
                const gguf::Contents file = gguf::Contents::parse(bytes);
                for (const gguf::Tensor &t : file.tensors()) CHECK(t.data >= bytes.data() && t.data + t.bytes <= bytes.data() + bytes.size());
            } catch (const Error &) {
            }
        }
        byte = kept;
    }
}

void test_file() {
    const TemporaryFile good(good_writer().bytes());
    const gguf::File file(good.path());
    CHECK_EQUAL("tiny", file.contents.metadata().string("general.name"));

    const auto open = [](const char *path) -> std::pair<tr_status, std::string> {
        try {
            const gguf::File f(path);
            return {TR_OK, ""};
        } catch (const Error &e) {
            return {e.status(), e.what()};
        }
    };
    const auto missing = open("/nonexistent/model.gguf");
    CHECK_EQUAL(TR_ERR_IO, missing.first);
    CHECK_CONTAINS(missing.second, "cannot open \"/nonexistent/model.gguf\": No such file");
    const auto directory = open("/");
    CHECK_EQUAL(TR_ERR_IO, directory.first);
    CHECK_CONTAINS(directory.second, "not a regular file");
    const TemporaryFile empty(Bytes{});
    const auto nothing = open(empty.path());
    CHECK_EQUAL(TR_ERR_FORMAT, nothing.first);
    CHECK_CONTAINS(nothing.second, "is empty");
}

} // namespace

int main() {
    test_values();
    test_getters();
    test_nan();
    test_samples();
    test_truncation();
    test_flips();
    test_file();
    return report();
}
