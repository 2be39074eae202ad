#include "compiler/passes/math_functions.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace teeny::compiler {
namespace {

using ir::Opcode;

/// What differs between f32 and f64.
struct Format {
  DType dtype;
  DType bits;    ///< signed integer of the same width
  int mantissa;  ///< stored bits of the significand
  int bias;
  int exp_terms;  ///< of (e^r - 1 - r) / r^2 on |r| <= ln(2)/2
  int log_terms;  ///< of the series of atanh
  int sin_terms, cos_terms;
  double exp_low, exp_high;  ///< beyond these exp is 0 or infinity
  double exp2_low, exp2_high;
  double tanh_one;                      ///< from here on tanh rounds to 1
  double ln2[2], log2e[2], half_pi[3];  ///< each the sum of parts of this format, largest first
};

constexpr Format f32_format = {
    DType::f32,
    DType::i32,
    23,
    127,
    6,
    5,
    4,
    5,
    -104.0,
    89.0,
    -151.0,
    129.0,
    10.0,
    {0.69314718246459961, -1.9046542121259336e-9},
    {1.4426950216293335, 1.9259630335000111e-8},
    {1.5707963705062866, -4.3711388286737929e-8, -1.7151245100058819e-15}};
constexpr Format f64_format = {
    DType::f64,
    DType::i64,
    52,
    1023,
    12,
    11,
    8,
    9,
    -746.0,
    710.0,
    -1076.0,
    1025.0,
    22.0,
    {0.693147180559945286226764, 2.319046813846299558417771e-17},
    {1.442695040888963387004651, 2.035527374093103311102109e-17},
    {1.570796326794896557998982, 6.12323399573676603586882e-17, -1.497384904859169832943508e-33}};

const Format& format_of(Expr x) { return x.type().dtype == DType::f64 ? f64_format : f32_format; }

/// Horner's rule, highest coefficient first to be applied, all by fma; coefficients lowest first.
Expr polynomial(Expr x, std::span<const double> coefficients) {
  Expr sum = x.number(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;)
    sum = fma(sum, x, x.number(coefficients[i]));
  return sum;
}

Expr round_even(Expr x) { return x.unary(Opcode::round); }
Expr absolute(Expr x) { return x.unary(Opcode::abs); }
Expr least(Expr a, Expr b) { return a.binary(Opcode::minimum, b); }
Expr greatest(Expr a, Expr b) { return a.binary(Opcode::maximum, b); }

/// 2^n for an integer n within the normal range.
Expr power_of_two(const Format& f, Expr n) {
  return ((n + n.integer(f.bits, f.bias)) << n.integer(f.bits, f.mantissa)).bitcast(f.dtype);
}

/// p * 2^n; in two steps, so that n may reach beyond the normal range and subnormal results round
/// once.
Expr scale(const Format& f, Expr p, Expr n) {
  const Expr half = n >> n.integer(f.bits, 1);
  return p * power_of_two(f, half) * power_of_two(f, n - half);
}

/// e^r - 1 for |r| <= ln(2)/2, by its Taylor series: r + r^2 (1/2! + r/3! + ...).
Expr expm1_near_zero(const Format& f, Expr r) {
  std::vector<double> coefficients;
  double factorial = 1;
  for (int k = 2; k < 2 + f.exp_terms; ++k) {
    factorial *= k;
    coefficients.push_back(1.0 / factorial);
  }
  return fma(r * r, polynomial(r, coefficients), r);
}

/// x = n ln(2) + r: n (an integer as a float) and r. The products are exact inside fma.
struct Reduced {
  Expr n;
  Expr r;
};
Reduced reduce_ln2(const Format& f, Expr x) {
  const Expr n = round_even(x * x.number(f.log2e[0]));
  const Expr r = fma(-n, x.number(f.ln2[1]), fma(-n, x.number(f.ln2[0]), x));
  return {n, r};
}

/// e^x - 1 for x <= 0 not far below -40.
Expr expm1_negative(const Format& f, Expr x) {
  const Reduced at = reduce_ln2(f, x);
  const Expr power = power_of_two(f, at.n.cast(f.bits));
  return fma(power, expm1_near_zero(f, at.r), power - x.number(1));
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)); for positive finite x.
struct Split {
  Expr m;
  Expr e;  ///< as a float
};
Split split(const Format& f, Expr x) {
  const int lift = f.mantissa + 2;
  const Expr tiny = x < x.number(std::ldexp(1.0, 1 - f.bias));
  const Expr normal = tiny.choose(x * x.number(std::ldexp(1.0, lift)), x);
  const Expr shift = tiny.choose(x.integer(f.bits, lift), x.integer(f.bits, 0));
  // Counted from the bits of sqrt(1/2), the exponent field steps where m should wrap.
  const auto root = static_cast<i64>(encode(f.dtype, std::sqrt(0.5)));
  const Expr above = normal.bitcast(f.bits) - x.integer(f.bits, root);
  const Expr e = (above >> x.integer(f.bits, f.mantissa)) - shift;
  const Expr fraction = above & x.integer(f.bits, (i64{1} << f.mantissa) - 1);
  return {(fraction + x.integer(f.bits, root)).bitcast(f.dtype), e.cast(f.dtype)};
}

/// ln(1 + a) with s = a / (2 + a): ln = 2 atanh(s) = a - (h - s (h + R)), h = a^2 / 2,
/// R = s^2 (2/3 + 2/5 s^2 + ...); `low` is added to what is subtracted last.
struct Series {
  Expr a, h, tail;
};
Series log_series(const Format& f, Expr m) {
  const Expr a = m - m.number(1);
  const Expr s = a / (a + m.number(2));
  const Expr z = s * s;
  std::vector<double> coefficients;
  for (int k = 1; k <= f.log_terms; ++k) coefficients.push_back(2.0 / (2 * k + 1));
  const Expr h = a * a * m.number(0.5);
  return {a, h, s * fma(z, polynomial(z, coefficients), h)};
}

/// What a logarithm gives outside its domain's interior.
Expr log_edges(Expr x, Expr inside) {
  const Expr infinity = x.number(HUGE_VAL);
  const Expr at_zero = (x == x.number(0)).choose(-infinity, x.number(std::nan("")));
  return (x > x.number(0)).choose((x < infinity).choose(inside, x), at_zero);
}

/// The magnitude of `value` with the sign of `sign`.
Expr with_sign(const Format& f, Expr value, Expr sign) {
  const auto mask = static_cast<i64>(u64{1} << (bits_of(f.dtype) - 1));
  const Expr sign_bit = sign.bitcast(f.bits) & sign.integer(f.bits, mask);
  return (absolute(value).bitcast(f.bits) | sign_bit).bitcast(f.dtype);
}

/// x = n pi/2 + r; the sine and cosine of r, and n modulo 4.
struct Circle {
  Expr sine, cosine, quadrant;
};
Circle reduce_circle(const Format& f, Expr x) {
  const Expr n = round_even(x * x.number(2.0 / 3.14159265358979323846));
  Expr r = x;
  for (const double part : f.half_pi) r = fma(-n, x.number(part), r);
  const Expr z = r * r;
  std::vector<double> sine;
  std::vector<double> cosine;
  double factorial = 2;
  for (int k = 1; k <= f.sin_terms; ++k) {
    factorial *= 2 * k + 1;
    sine.push_back((k % 2 == 1 ? -1.0 : 1.0) / factorial);
    factorial *= 2 * k + 2;
  }
  factorial = 2;
  for (int k = 2; k <= f.cos_terms; ++k) {
    factorial *= (2 * k - 1) * (2 * k);
    cosine.push_back((k % 2 == 1 ? -1.0 : 1.0) / factorial);
  }
  const Expr half = z * x.number(0.5);
  return {fma(r * z, polynomial(z, sine), r), x.number(1) - (half - z * z * polynomial(z, cosine)),
          n.cast(f.bits) & x.integer(f.bits, 3)};
}

Expr on_circle(const Format& f, Expr x, int turn) {
  const Circle at = reduce_circle(f, x);
  const Expr quadrant = at.quadrant + x.integer(f.bits, turn);
  const Expr one = x.integer(f.bits, 1);
  const Expr odd = (quadrant & one) == one;
  const Expr value = odd.choose(at.cosine, at.sine);
  const Expr two = x.integer(f.bits, 2);
  return ((quadrant & two) == two).choose(-value, value);
}

}  // namespace

Expr exp_of(Expr x) {
  const Format& f = format_of(x);
  const Expr inside = least(greatest(x, x.number(f.exp_low)), x.number(f.exp_high));
  const Reduced at = reduce_ln2(f, inside);
  return scale(f, x.number(1) + expm1_near_zero(f, at.r), at.n.cast(f.bits));
}

Expr exp2_of(Expr x) {
  const Format& f = format_of(x);
  const Expr inside = least(greatest(x, x.number(f.exp2_low)), x.number(f.exp2_high));
  const Expr n = round_even(inside);
  const Expr r = inside - n;
  const Expr t = fma(r, x.number(f.ln2[0]), r * x.number(f.ln2[1]));
  return scale(f, x.number(1) + expm1_near_zero(f, t), n.cast(f.bits));
}

Expr log_of(Expr x) {
  const Format& f = format_of(x);
  const Split at = split(f, x);
  const Series series = log_series(f, at.m);
  const Expr low = fma(at.e, x.number(f.ln2[1]), series.tail);
  return log_edges(x, fma(at.e, x.number(f.ln2[0]), series.a - (series.h - low)));
}

Expr log2_of(Expr x) {
  const Format& f = format_of(x);
  const Split at = split(f, x);
  const Series series = log_series(f, at.m);
  const Expr natural = series.a - (series.h - series.tail);
  const Expr low = fma(natural, x.number(f.log2e[1]), at.e);
  return log_edges(x, fma(natural, x.number(f.log2e[0]), low));
}

Expr tanh_of(Expr x) {
  const Format& f = format_of(x);
  // tanh(a) = (1 - e^-2a) / (1 + e^-2a), in terms of e^-2a - 1, which keeps small a exact.
  const Expr a = least(absolute(x), x.number(f.tanh_one));
  const Expr em1 = expm1_negative(f, a * x.number(-2));
  const Expr value = -em1 / (em1 + x.number(2));
  return (x == x).choose(with_sign(f, value, x), x);
}

Expr sigmoid_of(Expr x) {
  const Expr e = exp_of(-absolute(x));
  const Expr top = (x >= x.number(0)).choose(x.number(1), e);
  return top / (e + x.number(1));
}

Expr erf_of(Expr x) {
  const Format& f = format_of(x);
  // Taylor series below 1: 2/sqrt(pi) sum (-1)^n x^(2n+1) / (n! (2n+1)).
  constexpr double taylor[] = {
      1.128379167095512573896,      -0.3761263890318375246321,     0.1128379167095512573896,
      -0.02686617064513125175943,   0.005223977625442187842112,    -0.0008548327023450852832547,
      0.0001205533298178966425103,  -0.00001492565035840625097746, 0.000001646211436588924740161,
      -1.636584469123492431739e-7,  1.480719281587921723955e-8,    -1.229055530171792735298e-9,
      9.42275906465041097062e-11,   -6.711366855164110377935e-12,  4.463224263286477344932e-13,
      -2.783516207210921354904e-14, 1.634261409536715189432e-15,   -9.063970842808672479203e-17,
      4.763348040515068119702e-18,  -2.378459885277429425492e-19};
  // Above: 1 - e^(-x^2) erfcx(x), with erfcx a polynomial in u, the affine image on [-1, 1] of 1 /
  // (1 + x/2) over [1, end]; interpolated at Chebyshev points in 50 digits, relative error 2^-30
  // and 2^-58.
  constexpr double tail32[] = {0.255395676251903354,     0.14239528253811434,
                               0.0268509123434138281,    0.00292513049157531451,
                               0.0000460758191518890092, -0.0000287854132246911834,
                               -1.14758569773471301e-6,  4.31714510327971456e-7};
  constexpr double tail64[] = {
      0.2214295402299318064619,       0.1618935680410249828102,      0.03856057042518240663335,
      0.00558881628183957358419,      0.0001971391777283486945671,   -0.00008079220426243645129639,
      -0.000007340517941415228275527, 0.000001979561815853977380089, 1.634993861464746728376e-7,
      -7.005318546704507298468e-8,    -5.88631643886698641116e-10,   2.624002410316086444339e-9,
      -2.686673727909544878083e-10,   -7.360635504868663342118e-11,  2.211654530754847030659e-11,
      -1.391934782638739734969e-13,   -9.321424201169892245569e-13,  1.449564311341957890538e-13};
  const bool wide = f.dtype == DType::f64;
  const double end = wide ? 6.0 : 4.0;
  const double slope = wide ? 4.8 : 6.0;
  const double shift = wide ? 2.2 : 3.0;
  const std::span<const double> near_terms(taylor, wide ? std::size(taylor) : 12);
  const std::span<const double> tail_terms =
      wide ? std::span<const double>(tail64) : std::span<const double>(tail32);

  const Expr a = absolute(x);
  const Expr low = least(a, x.number(1));
  const Expr near = low * polynomial(low * low, near_terms);
  const Expr high = greatest(least(a, x.number(end)), x.number(1));
  const Expr u = x.number(slope) / fma(high, x.number(0.5), x.number(1)) - x.number(shift);
  const Expr far = x.number(1) - exp_of(-(high * high)) * polynomial(u, tail_terms);
  const Expr value = (a < x.number(1)).choose(near, far);
  return (x == x).choose(with_sign(f, value, x), x);
}

Expr sin_of(Expr x) { return on_circle(format_of(x), x, 0); }
Expr cos_of(Expr x) { return on_circle(format_of(x), x, 1); }
Expr rsqrt_of(Expr x) { return x.number(1) / x.unary(Opcode::sqrt); }

Expr fmod_of(Expr x, Expr y) {
  const Format& f = format_of(x);
  const DType wide = DType::u64;
  const DType own = f.dtype == DType::f64 ? DType::u64 : DType::u32;
  ir::Builder& b = x.builder();
  // |x| = mx 2^ex, |y| = my 2^ey over integers; mx 2^(ex - ey) mod my, as many bits of the shift at
  // a time as fit in 64.
  const auto field = [&](Expr v) { return absolute(v).bitcast(own).cast(wide); };
  const auto exponent = [&](Expr bits) {
    return greatest(bits >> bits.integer(wide, f.mantissa), bits.integer(wide, 1));
  };
  const auto significand = [&](Expr bits) {
    const Expr fraction = bits & bits.integer(wide, (i64{1} << f.mantissa) - 1);
    const Expr hidden = (bits >> bits.integer(wide, f.mantissa)) == bits.integer(wide, 0);
    return hidden.choose(fraction, fraction | bits.integer(wide, i64{1} << f.mantissa));
  };
  const Expr bx = field(x);
  const Expr by = field(y);
  const Expr ex = exponent(bx);
  const Expr ey = exponent(by);
  const Expr my = significand(by);
  const int chunk = 63 - f.mantissa;
  const int widest = 2 * f.bias;
  const Expr first = significand(bx) % my;
  const Expr distance = (ex > ey).choose(ex - ey, ex.integer(wide, 0));
  const ir::Type count = ir::Type::scalar(DType::i32);
  const auto scalar = [&](i64 value) { return b.constant(count, encode(DType::i32, value)); };
  const auto results =
      b.fold(scalar(0), scalar((widest + chunk - 1) / chunk), scalar(1),
             {first.value(), distance.value()}, [&](const ir::Builder::Values& state) {
               const Expr rest(b, state[1]);
               const Expr left(b, state[2]);
               const Expr step = least(left, left.integer(wide, chunk));
               return ir::Builder::Values{((rest << step) % my).value(), (left - step).value()};
             });
  const Expr magnitude(b, results[0]);
  const Expr power = ey.cast(f.bits) - x.integer(f.bits, f.bias + f.mantissa);
  const Expr folded = with_sign(f, scale(f, magnitude.cast(f.dtype), power), x);
  const Expr infinity = x.number(HUGE_VAL);
  const Expr smaller = (absolute(x) < absolute(y)).choose(x, folded);
  const Expr valid = (absolute(x) < infinity) & (y != x.number(0)) & (y == y);
  return valid.choose(smaller, x.number(std::nan("")));
}

Expr to_f32_odd(Expr x) {
  const Expr nearest = x.cast(DType::f32);
  const Expr back = nearest.cast(DType::f64);
  const Expr bits = nearest.bitcast(DType::i32);
  const Expr one = bits.integer(DType::i32, 1);
  const Expr exact_or_odd = ((back == x) | ((bits & one) == one)) | (x != x);
  const Expr towards = (absolute(back) < absolute(x)).choose(one, bits.integer(DType::i32, -1));
  return exact_or_odd.choose(bits, bits + towards).bitcast(DType::f32);
}

Expr integer_to_f64_odd(Expr x) {
  const DType dtype = x.type().dtype;
  if (size_of(dtype) < 8) return x.cast(DType::f64);
  // 53 bits hold all but the lowest eleven: those only leave a mark.
  const Expr dropped = x & x.integer(dtype, 0x7ff);
  const Expr mark =
      (dropped == x.integer(dtype, 0)).choose(x.integer(dtype, 0), x.integer(dtype, 0x800));
  const Expr marked = (x ^ dropped) | mark;
  const Expr limit = x.integer(dtype, i64{1} << 53);
  Expr small = x < limit;
  if (is_signed_int(dtype)) small = small & (x > -limit);
  return small.choose(x, marked).cast(DType::f64);
}

}  // namespace teeny::compiler
