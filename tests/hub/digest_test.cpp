#include "core/hub/digest.h"

#include <gtest/gtest.h>

namespace kernelscope {
namespace {

std::string of(Digest::Kind kind, const std::string& text, std::size_t piece = std::string::npos) {
    Digest digest(kind);
    for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size())) digest.add(std::string_view(text).substr(at, piece));
    return digest.finish();
}

// The examples of FIPS 180-4 and of git.
TEST(Digest, IsWhatTheStandardSays) {
    EXPECT_EQ(of(Digest::Kind::sha256, "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(of(Digest::Kind::sha256, ""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(of(Digest::Kind::sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(of(Digest::Kind::sha256, std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(of(Digest::Kind::sha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(of(Digest::Kind::sha1, std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    EXPECT_EQ(of(Digest::Kind::sha1, std::string("blob 0\0", 7)), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") << "git's empty file";
}

TEST(Digest, DoesNotDependOnHowTheBytesCome) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
    for (const std::size_t length : {0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000})
        for (const std::size_t piece : {1, 3, 63, 64, 65, 500})
            EXPECT_EQ(of(Digest::Kind::sha256, text.substr(0, length), piece), of(Digest::Kind::sha256, text.substr(0, length))) << length << " in pieces of " << piece;
}

}  // namespace
}  // namespace kernelscope
