// SPDX-License-Identifier: Apache-2.0
// The whole procedure on simulated series, documents in and verdicts out: how often it raises a false alarm and how
// often it finds a slow-down, under noise between and inside launches, drift, outliers and heavy tails. Seeds are
// fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "suite/stats/family.hpp"
#include "suite/stats/summary.hpp"
#include "tests/support/series_of_launches.hpp"

namespace assay::test {
namespace {

struct World {
  double launch_noise = 0.01;  // standard deviation between launches
  double sample_noise = 0.002;
  double drift = 0;          // of the machine, from the first launch to the last
  double outliers = 0;       // share of launches that something disturbed, by up to a fifth
  bool heavy_tails = false;  // Student's t with 3 degrees of freedom instead of normal noise between launches
  double slow_down = 1;      // of the candidate
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {}

  // One comparison of two interleaved series (A B B A ...): the launches of both sides drift together.
  Comparison run(const World& world, std::size_t cases, std::size_t launches) {
    static const Identity identity = simulated_board();
    RunDocument documents[2];
    for (std::size_t side : {0U, 1U}) {
      auto& document = documents[side];
      document = run_document(identity, {side == 0 ? "a" : "b", 0, launches, 0, 0, 1}, steady(1, 1));
      auto& made = document.devices.front().launches;
      for (std::size_t i = 0; i < launches; ++i) {
        const std::size_t slot = 2 * i + ((i % 2 == 0) == (side == 0) ? 0U : 1U);
        made[i].started_at = time_of(slot);
        const double progress = static_cast<double>(slot) / static_cast<double>(2 * launches);
        const double level = (side == 1 ? world.slow_down : 1.0) * (1 + world.drift * progress);
        for (std::size_t c = 0; c < cases; ++c) made[i].samples.push_back(samples(world, level, c));
      }
    }
    const auto comparison = compared(documents[0], documents[1]);
    EXPECT_TRUE(comparison) << comparison.error().text;
    return comparison ? *comparison : Comparison{};
  }

 private:
  SampleSeries samples(const World& world, double level, std::size_t c) {
    double between = world.launch_noise * (world.heavy_tails ? tails_(random_) / std::sqrt(3.0) : normal_(random_));
    if (world.outliers > 0 && unit_(random_) < world.outliers) between += 0.2 * unit_(random_);
    SampleSeries out{case_name(c), "ns", Basis::observed, {}, {}};
    for (int i = 0; i < 5; ++i)
      out.values.push_back(1e6 * level * std::exp(between + world.sample_noise * normal_(random_)));
    return out;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> tails_{3};
  std::uniform_real_distribution<double> unit_;
};

struct Rates {
  std::size_t comparisons = 0;
  std::size_t alarmed = 0;  // comparisons with any regression or improvement
  std::size_t cases = 0;
  std::size_t found = 0;  // cases called regressed
  std::size_t same = 0;
};

Rates simulate(const World& world, std::size_t cases, std::size_t launches, std::size_t comparisons,
               std::uint64_t seed) {
  Simulation simulation(seed);
  Rates rates;
  for (std::size_t i = 0; i < comparisons; ++i) {
    const auto comparison = simulation.run(world, cases, launches);
    ++rates.comparisons;
    rates.alarmed += comparison.counts.regressed + comparison.counts.improved > 0 ? 1U : 0U;
    rates.cases += comparison.cases.size();
    rates.found += static_cast<std::size_t>(comparison.counts.regressed);
    rates.same += static_cast<std::size_t>(comparison.counts.same);
  }
  return rates;
}

double share(std::size_t part, std::size_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::size_t>(whole, 1));
}

constexpr std::size_t kComparisons = 2000;

// Nothing differs between the sides: any verdict but `same` or `inconclusive` in any of 40 cases is a false alarm of
// the family. Allowed: alpha, with the room that a world's 400 comparisons leave to chance (three standard deviations);
// all 2,000 together are held to theirs.
TEST(Simulation, FamilyWiseFalseAlarmsStayBelowAlpha) {
  const std::vector<std::pair<const char*, World>> worlds{
      {"noise 1 %", {}},
      {"noise 3 %", {0.03, 0.005}},
      {"drift 10 %", {0.01, 0.002, 0.10}},
      {"outliers in a tenth", {0.01, 0.002, 0, 0.1}},
      {"heavy tails", {0.01, 0.002, 0, 0, true}},
  };
  const auto allowed = [](std::size_t comparisons) {
    return 0.05 + 3 * std::sqrt(0.05 * 0.95 / static_cast<double>(comparisons));
  };
  std::size_t alarmed = 0;
  std::printf("%-22s %12s %14s %10s\n", "40 cases x 7 launches", "false alarms", "95 % bound", "same");
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const auto rates = simulate(worlds[i].second, 40, 7, kComparisons / worlds.size(), 100 + i);
    std::printf("%-22s %11.2f%% %13.2f%% %9.1f%%\n", worlds[i].first, 100 * share(rates.alarmed, rates.comparisons),
                100 * stats::upper_bound_of_rate(rates.alarmed, rates.comparisons, 0.95),
                100 * share(rates.same, rates.cases));
    EXPECT_LE(share(rates.alarmed, rates.comparisons), allowed(rates.comparisons)) << worlds[i].first;
    alarmed += rates.alarmed;
  }
  EXPECT_LE(share(alarmed, kComparisons), allowed(kComparisons));
}

TEST(Simulation, ASlowDownOfFivePerCentIsFound) {
  World world;
  world.slow_down = 1.05;
  const auto rates = simulate(world, 40, 7, 200, 7);
  std::printf("5 %% slower, noise 1 %%, 40 cases x 7 launches: found in %.2f %% of %zu cases\n",
              100 * share(rates.found, rates.cases), rates.cases);
  EXPECT_GE(share(rates.found, rates.cases), 0.95);
}

TEST(Simulation, MoreNoiseMeansInconclusiveNeverAFalseAlarm) {
  const auto quiet = simulate({0.005, 0.002}, 10, 7, 100, 21);
  const auto loud = simulate({0.03, 0.002}, 10, 7, 100, 22);
  EXPECT_GT(share(quiet.same, quiet.cases), 0.95);
  EXPECT_LT(share(loud.same, loud.cases), 0.3);
  EXPECT_LE(loud.alarmed, 10U);
}

// The tables a reader wants: launches across, noise down. Ten cases, so that every number of launches from 7 decides.
TEST(Simulation, Tables) {
  const std::vector<std::size_t> launches{5, 7, 9, 11, 15};
  const std::vector<double> noises{0.005, 0.01, 0.02, 0.03};
  for (const double slow_down : {1.0, 1.05}) {
    std::printf("\n%s, 10 cases, 50 comparisons a cell: %s\n%10s", slow_down > 1 ? "5 % slower" : "nothing differs",
                slow_down > 1 ? "share of cases called regressed" : "share of comparisons with any alarm", "noise");
    for (const auto n : launches) std::printf("%9zu", n);
    std::printf("  launches a side\n");
    for (const double noise : noises) {
      std::printf("%9.1f%%", 100 * noise);
      for (const auto n : launches) {
        World world{noise, 0.002};
        world.slow_down = slow_down;
        const auto rates = simulate(world, 10, n, 50, 1000 + n);
        const double rate = slow_down > 1 ? share(rates.found, rates.cases) : share(rates.alarmed, rates.comparisons);
        std::printf("%8.1f%%", 100 * rate);
        if (slow_down == 1.0) {
          EXPECT_LE(rates.alarmed, 9U) << n << " launches, noise " << noise;  // P(X > 9) of B(50, 0.05) is 0.0002
        }
        if (n < stats::kFewestLaunches) {
          EXPECT_EQ(rates.found, 0U) << "too few launches decide nothing";
        }
        if (slow_down > 1 && n >= 7 && noise <= 0.01) {
          EXPECT_GE(rate, 0.95);
        }
      }
      std::printf("\n");
    }
  }
}

}  // namespace
}  // namespace assay::test
