// The GGUF reader: what it reads, what it refuses and in which words, and that no cut or flipped byte gets past it.
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "gguf/file.h"
#include "support/check.h"
#include "support/gguf_corpus.h"

using namespace tr;
using namespace tr::test;

namespace {

// The status and message of f.
template <class F> std::pair<tr_status, std::string> outcome(F &&f) {
    try {
        f();
        return {TR_OK, ""};
    } catch (const Error &e) {
        return {e.status(), e.what()};
    }
}
std::pair<tr_status, std::string> parse(const Bytes &bytes) {
    return outcome([&] { gguf::Contents::parse(bytes); });
}
std::pair<tr_status, std::string> open(const std::string &path) {
    return outcome([&] { gguf::File file(path.c_str()); });
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
    CHECK_EQUAL(96u, vector->offset - matrix->offset); // 68 rounded up to the alignment of 32
    CHECK_EQUAL(1, bytes[matrix->offset]);
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
    CHECK_CONTAINS(message([&] { m.integer("f32", 0, 1); }), "is of type float32; expected an integer");
    CHECK_CONTAINS(message([&] { m.integer("strings", 0, 1); }), "is of type array of string; expected an integer");
    CHECK_CONTAINS(message([&] { m.number("u32", 0, 1); }), "is of type uint32; expected a floating-point number");
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

// What the corpus says of each file, found in the file and in its bytes.
void test_corpus() {
    for (const CorpusCase &c : gguf_corpus()) {
        const bool good = c.verdict != "container" && c.verdict != "parts"; // a model's faults are not the reader's to find
        const auto check = [&](const std::pair<tr_status, std::string> &found) {
            const std::string said = c.path + ": " + found.second;
            if (good != (found.first == TR_OK)) return failed(__FILE__, __LINE__, said);
            if (good) return;
            for (const std::string &word : c.words) CHECK_CONTAINS(said, word);
            CHECK_CONTAINS(said, c.verdict == "parts" ? "gguf: parts: " : ", at byte " + std::to_string(c.offset) + ": ");
        };
        check(open(c.path));
        if (c.verdict == "container") check(parse(read_file(c.path)));
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
                for (const gguf::Tensor &t : file.tensors()) CHECK(t.offset + t.bytes <= bytes.size());
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
    CHECK_EQUAL(1u, file.n_parts());
    uint8_t bytes[4] = {};
    file.read(*file.contents.find("matrix"), 2, sizeof bytes, bytes);
    CHECK(bytes[0] == 1 && bytes[3] == 1);

    const auto missing = open("/nonexistent/model.gguf");
    CHECK_EQUAL(TR_ERR_IO, missing.first);
    CHECK_CONTAINS(missing.second, "cannot open \"/nonexistent/model.gguf\": No such file");
    const auto directory = open("/");
    CHECK_EQUAL(TR_ERR_IO, directory.first);
    CHECK_CONTAINS(directory.second, "not a regular file");
    const TemporaryFile pipe(Bytes{});
    CHECK_EQUAL(0, unlink(pipe.path()));
    CHECK_EQUAL(0, mkfifo(pipe.path(), 0600));
    CHECK_CONTAINS(open(pipe.path()).second, "not a regular file"); // and does not wait for a writer
}

// A file that is cut short while it is open gives an error, where a mapping would end the process.
void test_shrinking() {
    const TemporaryFile temporary(good_writer().bytes());
    const gguf::File file(temporary.path());
    const gguf::Tensor &vector = *file.contents.find("vector");
    CHECK_EQUAL(0, truncate(temporary.path(), static_cast<off_t>(vector.offset + 8)));
    uint8_t bytes[20];
    file.read(vector, 0, 8, bytes); // is there still
    const auto gone = outcome([&] { file.read(vector, 0, sizeof bytes, bytes); });
    CHECK_EQUAL(TR_ERR_IO, gone.first);
    CHECK_CONTAINS(gone.second, "has become shorter while it was read");

    const gguf::Source source(temporary.path());
    gguf::Head head(source, gguf::kLargestHead);
    CHECK_EQUAL(0, truncate(temporary.path(), 30));
    CHECK_CONTAINS(outcome([&] { gguf::Contents::parse(gguf::Cursor(head, source)); }).second, "has become shorter while it was read");
}

// A head that is longer than one read of it, with strings across the edges; and one that is longer than is read at all.
void test_long_head() {
    GgufWriter w;
    const std::string text(3 << 20, 'x');
    std::vector<std::string> texts(100000);
    for (size_t i = 0; i < texts.size(); i++) texts[i] = std::string(i % 40, 'y');
    w.string("text", text);
    w.strings("texts", texts);
    w.string("last", "end");
    const TemporaryFile temporary(w.bytes());
    const gguf::File file(temporary.path());
    CHECK(file.contents.metadata().string("text") == text);
    CHECK_EQUAL(texts.size(), *file.contents.metadata().find_array_size("texts"));
    CHECK_EQUAL("end", file.contents.metadata().string("last"));

    const gguf::Source source(temporary.path());
    gguf::Head head(source, 1 << 20);
    const auto [status, message] = outcome([&] { gguf::Contents::parse(gguf::Cursor(head, source)); });
    CHECK_EQUAL(TR_ERR_FORMAT, status);
    CHECK_CONTAINS(message, "would end behind byte 1048576, the largest head that is read");
}

} // namespace

int main() {
    test_values();
    test_getters();
    test_nan();
    test_corpus();
    test_truncation();
    test_flips();
    test_file();
    test_shrinking();
    test_long_head();
    return report();
}
