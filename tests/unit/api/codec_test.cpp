// Round trips of random values, and decoders on bytes that are no value.
#include "tenon/codec.hpp"

#include <chrono>
#include <random>

#include "tenon/error.hpp"

namespace tenon {
namespace {

using Random = std::mt19937_64;

enum class Colour : uint16_t { red = 1, blue = 700 };
struct Point {  // goes by memcpy
  double x = 0;
  int32_t y = 0;
  std::array<uint8_t, 3> rest{};
  bool operator==(const Point&) const = default;
};
struct User {
  std::string name;
  std::vector<Point> points;
  std::optional<std::map<std::string, int64_t>> scores;
  bool active = false;
  TENON_FIELDS(name, points, scores, active)
  bool operator==(const User&) const = default;
};
struct Tree {  // holds itself
  int32_t value = 0;
  std::vector<Tree> children;
  TENON_FIELDS(value, children)
  bool operator==(const Tree&) const = default;
};
class Money {
 public:
  explicit Money(int64_t cents) : cents_(cents) {}
  [[nodiscard]] int64_t cents() const { return cents_; }
  bool operator==(const Money&) const = default;

 private:
  int64_t cents_;
};

struct Cents {  // would go by memcpy but for its Codec, which writes another number of bytes
  uint32_t value = 0;
  bool operator==(const Cents&) const = default;
};
enum class Unit : uint32_t { piece, kilogram };  // likewise
struct Line {
  Cents price;
  int32_t pieces = 0;
  bool operator==(const Line&) const = default;
};
struct Bill {
  std::array<Line, 2> lines{};
  const Unit unit = Unit::piece;
  Line last;
  bool operator==(const Bill&) const = default;
};

}  // namespace

template <>
struct Codec<Money> {
  static void write(ByteWriter& out, const Money& money) { out.fixed(money.cents()); }
  static Money read(ByteReader& in) { return Money(in.fixed<int64_t>()); }
};
template <>
struct Codec<Cents> {
  static void write(ByteWriter& out, const Cents& cents) {
    out.fixed('c');
    out.size(cents.value);
  }
  static Cents read(ByteReader& in) {
    if (in.fixed<char>() != 'c') throw Error(ErrorKind::codec, "no cents");
    return {static_cast<uint32_t>(in.size())};
  }
};
template <>
struct Codec<Unit> {
  static void write(ByteWriter& out, Unit unit) { out.fixed(unit == Unit::piece ? 'p' : 'k'); }
  static Unit read(ByteReader& in) {
    return in.fixed<char>() == 'p' ? Unit::piece : Unit::kilogram;
  }
};

namespace {

// Random values of the types under test.
template <class T>
struct Arbitrary;
template <class T>
T arbitrary(Random& random) {
  return Arbitrary<T>::make(random);
}
size_t few(Random& random) { return random() % 4 == 0 ? random() % 300 : random() % 6; }

template <class T>
  requires(std::is_arithmetic_v<T>)
struct Arbitrary<T> {
  static T make(Random& random) {
    if constexpr (std::is_same_v<T, bool>) return random() % 2 == 0;
    if (random() % 4 == 0) {
      const T edges[] = {T{0}, T(1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::lowest()};
      return edges[random() % std::size(edges)];
    }
    return static_cast<T>(random());
  }
};
template <>
struct Arbitrary<Colour> {
  static Colour make(Random& random) { return random() % 2 == 0 ? Colour::red : Colour::blue; }
};
template <>
struct Arbitrary<std::chrono::nanoseconds> {
  static std::chrono::nanoseconds make(Random& random) {
    return std::chrono::nanoseconds(arbitrary<int64_t>(random));
  }
};
template <>
struct Arbitrary<std::monostate> {
  static std::monostate make(Random&) { return {}; }
};
template <>
struct Arbitrary<std::string> {
  static std::string make(Random& random) {
    std::string text(few(random), '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }
};
template <>
struct Arbitrary<Money> {
  static Money make(Random& random) { return Money(arbitrary<int64_t>(random)); }
};
template <>
struct Arbitrary<Cents> {
  static Cents make(Random& random) { return {arbitrary<uint32_t>(random)}; }
};
template <>
struct Arbitrary<Unit> {
  static Unit make(Random& random) { return random() % 2 == 0 ? Unit::piece : Unit::kilogram; }
};
template <>
struct Arbitrary<Line> {
  static Line make(Random& random) {
    return {arbitrary<Cents>(random), arbitrary<int32_t>(random)};
  }
};
template <>
struct Arbitrary<Bill> {
  static Bill make(Random& random) {
    return {{arbitrary<Line>(random), arbitrary<Line>(random)},
            arbitrary<Unit>(random),
            arbitrary<Line>(random)};
  }
};
template <class A, class B>
struct Arbitrary<std::pair<A, B>> {
  static std::pair<A, B> make(Random& random) {
    A first = arbitrary<A>(random);
    return {std::move(first), arbitrary<B>(random)};
  }
};
template <class... Ts>
struct Arbitrary<std::tuple<Ts...>> {
  static std::tuple<Ts...> make([[maybe_unused]] Random& random) {
    return std::tuple<Ts...>{arbitrary<Ts>(random)...};
  }
};
template <class T, size_t N>
struct Arbitrary<std::array<T, N>> {
  static std::array<T, N> make(Random& random) {
    std::array<T, N> value;
    for (T& element : value) element = arbitrary<T>(random);
    return value;
  }
};
template <class T>
struct Arbitrary<std::optional<T>> {
  static std::optional<T> make(Random& random) {
    if (random() % 3 == 0) return std::nullopt;
    return arbitrary<T>(random);
  }
};
template <class... Ts>
struct Arbitrary<std::variant<Ts...>> {
  static std::variant<Ts...> make(Random& random) {
    std::variant<Ts...> values[] = {std::variant<Ts...>(arbitrary<Ts>(random))...};
    return values[random() % sizeof...(Ts)];
  }
};
template <class C>
  requires requires(C c, typename C::value_type v) { c.insert(c.end(), v); } &&
           (!std::is_same_v<C, std::string>)
struct Arbitrary<C> {
  static C make(Random& random) {
    C value;
    using V = typename C::value_type;
    for (size_t n = few(random); n > 0; --n) {
      if constexpr (requires { typename C::mapped_type; }) {
        value.emplace(arbitrary<typename C::key_type>(random),
                      arbitrary<typename C::mapped_type>(random));
      } else {
        value.insert(value.end(), arbitrary<V>(random));
      }
    }
    return value;
  }
};
template <>
struct Arbitrary<Point> {
  static Point make(Random& random) {
    return {static_cast<double>(arbitrary<int64_t>(random)), arbitrary<int32_t>(random),
            arbitrary<std::array<uint8_t, 3>>(random)};
  }
};
template <>
struct Arbitrary<User> {
  static User make(Random& random) {
    User user;
    user.name = arbitrary<std::string>(random);
    user.points = arbitrary<std::vector<Point>>(random);
    user.scores = arbitrary<std::optional<std::map<std::string, int64_t>>>(random);
    user.active = arbitrary<bool>(random);
    return user;
  }
};
template <>
struct Arbitrary<Tree> {
  static Tree make(Random& random) { return grow(random, 4); }
  static Tree grow(Random& random, int depth) {
    Tree tree{arbitrary<int32_t>(random), {}};
    for (size_t n = depth == 0 ? 0 : random() % 4; n > 0; --n)
      tree.children.push_back(grow(random, depth - 1));
    return tree;
  }
};

// Decodes bytes that may be anything: a value comes out, or Error (codec); nothing else.
template <class T>
::testing::AssertionResult decodes_or_refuses(std::string_view bytes) {
  // In a buffer of its own, so that a sanitizer sees a read beyond the end.
  const std::vector<char> exact(bytes.begin(), bytes.end());
  try {
    static_cast<void>(decode<T>({exact.data(), exact.size()}));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::codec) return ::testing::AssertionFailure() << error.what();
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << "not an Error: " << error.what();
  }
  return ::testing::AssertionSuccess();
}

template <class T>
bool cut_short(std::string_view bytes) {
  try {
    static_cast<void>(decode<T>(bytes));
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::codec;
  }
}

template <class T>
class CodecOf : public ::testing::Test {};
using Types = ::testing::Types<
    bool, char, int8_t, uint16_t, int32_t, int64_t, uint64_t, float, double, Colour,
    std::chrono::nanoseconds, std::string, Money, Point, User, Tree, Line, Bill,
    std::array<Unit, 2>, std::vector<Line>, std::optional<Bill>, std::pair<int, std::string>,
    std::pair<std::string, std::pair<double, bool>>, std::tuple<>,
    std::tuple<int, std::string, std::vector<bool>>, std::array<std::string, 3>, std::array<int, 5>,
    std::vector<int>, std::vector<std::monostate>, std::vector<std::vector<std::string>>,
    std::vector<std::optional<int>>, std::optional<std::string>,
    std::variant<int, std::string, std::vector<double>>, std::set<std::string>,
    std::unordered_set<int64_t>, std::map<int, std::vector<std::string>>,
    std::unordered_map<std::string, double>, std::map<std::pair<int, int>, std::set<char>>>;
TYPED_TEST_SUITE(CodecOf, Types);

TYPED_TEST(CodecOf, RoundTrip) {
  Random random(17);
  for (int i = 0; i < 300; ++i) {
    const auto value = arbitrary<TypeParam>(random);
    const std::string bytes = encode(value);
    const auto back = decode<TypeParam>(bytes);
    if constexpr (!std::is_floating_point_v<TypeParam>) {
      ASSERT_TRUE(back == value);
    }
    // Unordered containers may come back in another order.
    if constexpr (!requires { typename TypeParam::hasher; }) {
      ASSERT_EQ(encode(back), bytes);
    }
  }
}

TYPED_TEST(CodecOf, TruncatedBytesAreRefused) {
  Random random(18);
  for (int i = 0; i < 40; ++i) {
    const std::string bytes = encode(arbitrary<TypeParam>(random));
    for (size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 300) {
      ASSERT_TRUE(cut_short<TypeParam>(std::string_view(bytes).substr(0, n)))
          << n << " of " << bytes.size();
    }
    ASSERT_TRUE(cut_short<TypeParam>(bytes + "x")) << "a byte left over";
  }
}

TYPED_TEST(CodecOf, CorruptedBytesNeverCrash) {
  Random random(19);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = encode(arbitrary<TypeParam>(random));
    for (size_t changes = 1 + random() % 4; changes > 0 && !bytes.empty(); --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 2 == 0 ? 0xff : random());
    }
    ASSERT_TRUE(decodes_or_refuses<TypeParam>(bytes));
    std::string noise(random() % 40, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    ASSERT_TRUE(decodes_or_refuses<TypeParam>(noise));
    ASSERT_TRUE(decodes_or_refuses<TypeParam>(std::string(random() % 12, '\xff')));
  }
}

void expect_codec_error(const std::function<void()>& decode_it, const std::string& text) {
  try {
    decode_it();
    FAIL() << "no error; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::codec);
    EXPECT_THAT(error.message(), ::testing::HasSubstr(text));
  }
}

TEST(Codec, SaysWhatIsWrong) {
  expect_codec_error([] { static_cast<void>(decode<int32_t>("abc")); },
                     "cut short: it wants 4 more bytes, 3 are left");
  expect_codec_error([] { static_cast<void>(decode<int16_t>("abc")); },
                     "followed by 1 bytes that its Codec did not read");
  expect_codec_error([] { static_cast<void>(decode<bool>("\2")); },
                     "flag that is neither 0 nor 1 but 2");
  expect_codec_error([] { static_cast<void>(decode<std::optional<int>>("\7")); }, "flag");
  expect_codec_error([] { static_cast<void>(decode<std::variant<int, bool>>("\2")); },
                     "variant names alternative 2, of 2");
  // A size of more than 64 bits, in length and in value.
  expect_codec_error([] { static_cast<void>(decode<std::string>(std::string(11, '\xff'))); },
                     "no 64-bit number");
  expect_codec_error([] { static_cast<void>(decode<std::string>(std::string(9, '\xff') + '\2')); },
                     "no 64-bit number");
  // Counts that would fill the memory: refused before anything is allocated for them.
  const std::string huge = std::string(9, '\xff') + '\1';
  expect_codec_error([&] { static_cast<void>(decode<std::vector<int64_t>>(huge)); }, "cut short");
  expect_codec_error([&] { static_cast<void>(decode<std::vector<std::string>>(huge)); },
                     "cut short");
  expect_codec_error([&] { static_cast<void>(decode<std::vector<std::monostate>>(huge)); },
                     "count");
  expect_codec_error([&] { static_cast<void>(decode<std::set<std::tuple<>>>(huge)); }, "count");
}

TEST(Codec, BytesArePinned) {
  EXPECT_EQ(encode(int32_t{0x01020304}), "\x04\x03\x02\x01");
  EXPECT_EQ(encode(std::string("ab")), "\2ab");
  EXPECT_EQ(encode(std::string(200, 'x')).substr(0, 2), "\xc8\x01");
  EXPECT_EQ(encode(std::pair(std::string("k"), uint8_t{7})), "\1k\7");
  EXPECT_EQ(encode(std::optional<uint8_t>()), std::string(1, '\0'));
  EXPECT_EQ(encode(std::vector<uint16_t>{1, 2}), std::string("\2\1\0\2\0", 5));
  EXPECT_EQ(encode(std::variant<int, bool>(true)), "\1\1");
  EXPECT_EQ(encode(std::monostate()), "");
}

// A Codec of the program's own counts wherever the class stands.
TEST(Codec, AClassWithItsOwnCodecIsNeverCopied) {
  const Line line{{5}, 1};
  const std::string bytes("c\5\1\0\0\0", 6);
  EXPECT_EQ(encode(line), bytes);
  EXPECT_EQ(encode(Bill{{line, line}, Unit::kilogram, line}), bytes + bytes + "k" + bytes);
  EXPECT_EQ(encode(std::array{Cents{5}, Cents{6}}), "c\5c\6");
  EXPECT_EQ(encode(std::array{Unit::piece, Unit::kilogram}), "pk");
  EXPECT_EQ(encode(std::array{std::array{line}, std::array{line}}), bytes + bytes);
  EXPECT_EQ(encode(std::pair(Cents{5}, line)), "c\5" + bytes);
  EXPECT_EQ(encode(std::tuple(Cents{5}, Unit::piece, line)), "c\5p" + bytes);
  EXPECT_EQ(encode(std::vector{Cents{5}, Cents{6}}), "\2c\5c\6");
  EXPECT_EQ(encode(std::vector{line, line}), "\2" + bytes + bytes);
  EXPECT_EQ(encode(std::vector{std::array{line}}), "\1" + bytes);
  EXPECT_EQ(encode(std::optional(line)), "\1" + bytes);
  EXPECT_EQ(encode(std::variant<int, Line>(line)), "\1" + bytes);
  EXPECT_EQ(encode(std::map<int8_t, Line>{{1, line}}), "\1\1" + bytes);
  EXPECT_FALSE(detail::is_plain_v<Cents> && detail::PlainCodec<Cents>);
  EXPECT_FALSE(detail::is_plain_v<Line>);
  EXPECT_FALSE(detail::is_plain_v<Bill>);
  EXPECT_FALSE((detail::is_plain_v<std::array<Unit, 2>>));
}

TEST(Codec, UniquePointer) {
  EXPECT_EQ(decode<std::unique_ptr<std::string>>(encode(std::unique_ptr<std::string>())), nullptr);
  EXPECT_EQ(*decode<std::unique_ptr<std::string>>(encode(std::make_unique<std::string>("text"))),
            "text");
}

// ------------------------------------------------------------------------------- what is plain

struct Empty {};
struct Base {
  int a = 0;
};
struct Derived : Base {
  int b = 0;
};
struct DerivedFromEmpty : Empty {
  int b = 0;
};
struct WithArray {
  int values[3] = {};
  int more = 0;
};
struct WithPointer {
  int* p = nullptr;
};
struct WithBool {
  bool b = false;
};
struct WithView {
  std::string_view s;
};
struct Nested {
  Point p;
  std::chrono::seconds s{};
  Colour c{};
};
struct Two {
  int a = 0, b = 0;
};
struct OfTwo {
  Two two;
  int c = 0;
};
struct Seven {
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0;
};

TEST(Codec, PlainIsWhatCanBeSeenThrough) {
  EXPECT_TRUE(detail::is_plain_v<int>);
  EXPECT_TRUE(detail::is_plain_v<Point>);
  EXPECT_TRUE(detail::is_plain_v<Nested>);
  EXPECT_TRUE(detail::is_plain_v<OfTwo>);
  EXPECT_TRUE((detail::is_plain_v<std::array<Two, 4>>));
  EXPECT_FALSE(detail::is_plain_v<bool>);
  EXPECT_FALSE(detail::is_plain_v<WithPointer>);
  EXPECT_FALSE(detail::is_plain_v<WithBool>);
  EXPECT_FALSE(detail::is_plain_v<WithView>);
  EXPECT_FALSE(detail::is_plain_v<Derived>);
  EXPECT_FALSE(detail::is_plain_v<DerivedFromEmpty>);
  EXPECT_FALSE(detail::is_plain_v<WithArray>);
  EXPECT_FALSE(detail::is_plain_v<Seven>);
  EXPECT_FALSE(detail::is_plain_v<Empty>);
  EXPECT_FALSE(Encodable<WithPointer>);
  EXPECT_FALSE(Encodable<std::string_view>);
  EXPECT_FALSE(Encodable<const char*>);
  EXPECT_FALSE(Encodable<std::vector<std::string_view>>);
  EXPECT_FALSE((Encodable<std::map<int, std::string_view>>));
  EXPECT_FALSE((Encodable<std::pair<int, WithPointer>>));
  EXPECT_FALSE(Encodable<std::optional<std::vector<int*>>>);
  EXPECT_FALSE((Encodable<std::span<int>>));
}

}  // namespace
}  // namespace tenon
