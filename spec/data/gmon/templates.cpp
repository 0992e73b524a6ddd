// templates.cpp - C++ names: templates, overloads, operators, namespaces.

#include <cstdio>
#include <string>
#include <vector>

static volatile long touched; // keeps calls from being moved out of loops

namespace shapes {

template <typename T> struct Box {
  T width, height;
  __attribute__ ((noinline)) T area (int n) const {
    T sum = 0;
    touched = touched + 1;
    for (int i = 0; i < n; i++)
      sum += width * height + T(i);
    return sum;
  }
  __attribute__ ((noinline)) Box operator+ (const Box &other) const {
    return Box{T(width + other.width), T(height + other.height)};
  }
};

template <typename T, int N>
__attribute__ ((noinline)) T total (const std::vector<Box<T>> &boxes) {
  T sum = 0;
  for (const auto &box : boxes)
    sum += (box + box).area(N);
  return sum;
}

}

__attribute__ ((noinline)) static double run (int rounds) {
  std::vector<shapes::Box<double>> doubles(50, {1.5, 2.5});
  std::vector<shapes::Box<long>> longs(50, {3, 4});
  double sum = 0;
  for (int i = 0; i < rounds; i++)
    sum += shapes::total<double, 400>(doubles) +
           double(shapes::total<long, 200>(longs));
  return sum;
}

int main () {
  std::printf("%g\n", run(2500));
  return 0;
}
