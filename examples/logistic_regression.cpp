// Logistic regression by gradient descent: from weights of 0, ROUNDS steps of RATE times the mean
// gradient. Lines are "LABEL X...", a label of 0 or 1 and the features. Prints the intercept, the
// weight of each feature, and how many of the lines the model gets right. logistic_regression
// ROUNDS RATE PATH...
#include <cmath>
#include <utility>

#include "text.hpp"

namespace {

constexpr int32_t kPartitions = 8;  // whatever the master, so that sums have the same last digit

using Vector = std::vector<double>;
using Example = std::pair<double, Vector>;  // the label, and 1 with the features behind it

Example example_of(Vector&& numbers) {
  if (numbers[0] != 0 && numbers[0] != 1)
    throw tenon::FatalError("the label " + std::to_string(numbers[0]) + " is neither 0 nor 1");
  const double label = std::exchange(numbers[0], 1.0);
  return {label, std::move(numbers)};
}

// How probable the label 1 is.
double predict(const Vector& features, const Vector& weights) {
  if (features.size() != weights.size()) {
    throw tenon::FatalError("there are lines of " + std::to_string(features.size()) + " and of " +
                            std::to_string(weights.size()) + " numbers");
  }
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) sum += weights[i] * features[i];
  return 1 / (1 + std::exp(-sum));
}

Vector gradient(Example&& example, const Vector& weights) {
  const double error = predict(example.second, weights) - example.first;
  for (double& x : example.second) x *= error;
  return std::move(example.second);
}

Vector plus(Vector a, const Vector& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

bool is_right(const Example& example, const Vector& weights) {
  return (predict(example.second, weights) > 0.5) == (example.first == 1);
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t rounds = 0;
  double rate = 0;
  if (argc < 4 || !parse(argv[1], rounds) || !parse(argv[2], rate)) {
    std::fputs("usage: logistic_regression ROUNDS RATE PATH...\n", stderr);
    return 1;
  }

  tenon::Context ctx(argc, argv, {.app = "logistic_regression"});
  const std::vector<std::string> paths(argv + 3, argv + argc);
  const auto examples = ctx.text_file<std::string_view>(paths, kPartitions)
                            .map(tenon::fn<numbers>)
                            .filter([](const Vector& numbers) { return !numbers.empty(); })
                            .map(tenon::fn<example_of>)
                            .cache();
  const uint64_t n = examples.count();
  Vector weights(n == 0 ? 0 : examples.first().second.size());
  for (uint32_t round = 0; round < rounds && n != 0; ++round) {
    const Vector sum = examples.map(tenon::fn<gradient>, weights).reduce(tenon::fn<plus>);
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] -= rate / static_cast<double>(n) * sum[i];
  }
  for (const double weight : weights) std::printf("%.6f\n", weight);
  const uint64_t right = examples.filter(tenon::fn<is_right>, weights).count();
  std::printf("%ju of %ju right\n", uintmax_t{right}, uintmax_t{n});
  return printed();
}
