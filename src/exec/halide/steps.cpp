/* halide/steps.cpp: operations as Halide's expressions, each told to be strict. */
#include "exec/halide/steps.h"

#include <sstream>
#include <stdexcept>

namespace ebb {

const char memory[] = "memory";

Expr number(int32_t x) {
    return IntImm::make(Int(32), x);
}

Expr spread(const Expr &x, int lanes) {
    return lanes > 1 ? Broadcast::make(x, lanes) : x;
}

Expr of(Type type, const Expr &a) {
    return Cast::make(type.with_lanes(a.type().lanes()), a);
}

Expr whole(const Expr &a) {
    return of(Int(32), a);
}

static Expr as(Type type, const Expr &a) {
    return Call::make(type.with_lanes(a.type().lanes()), Call::reinterpret, {a}, Call::PureIntrinsic);
}

Expr bits(const Expr &a) {
    return as(UInt(32), a);
}

Expr real(const Expr &a) {
    return as(Float(32), a);
}

Expr bitwise(Call::IntrinsicOp op, const Expr &a, const Expr &b) {
    return Call::make(a.type(), op, {a, b}, Call::PureIntrinsic);
}

static Expr bitwise(Call::IntrinsicOp op, const Expr &a, uint32_t mask) {
    return bitwise(op, a, spread(UIntImm::make(UInt(32), mask), a.type().lanes()));
}

static Expr called(const char *name, const Expr &a) {
    return Call::make(a.type(), name, {a}, Call::PureExtern);
}

Expr strict(const Expr &a) {
    return Call::make(a.type(), Call::strict_float, {a}, Call::PureIntrinsic);
}

Expr operation(const std::string &name, const Expr &a, const Expr &b, const Expr &c) {
#define EMIT_OP(op, n, result, in_llvm, in_mlir, in_c, in_halide) \
    if (name == #op) return in_halide;
#include "exec/emit/ops.def"
    throw std::runtime_error("no operation is called " + name);
}

Type type_of_word(const std::string &word) {
    if (word == "f32") return Float(32);
    if (word == "i32") return UInt(32);
    if (word == "byte") return UInt(8);
    if (word == "half") return UInt(16);
    throw std::runtime_error("no type is called " + word);
}

Expr load(Type type, const char *name, const Expr &index, const ModulusRemainder &alignment) {
    return Load::make(type.with_lanes(index.type().lanes()), name, index, Buffer<>(), Parameter(),
                      const_true(index.type().lanes()), alignment);
}

static std::string name_of(uint32_t reg) {
    return "r" + std::to_string(reg);
}

void Steps::define(uint32_t reg, const Expr &x) {
    types[reg] = x.type();
    definitions.emplace_back(name_of(reg), strict(x));
}

Expr Steps::value(uint32_t reg) const {
    return Variable::make(types.at(reg), name_of(reg));
}

std::vector<Expr> Steps::operands(std::istream &in) const {
    std::vector<Expr> all;
    for (uint32_t reg; in >> reg;) all.push_back(value(reg));
    return all;
}

/* ---- where no property of reals may be used ---------------------------------------------------------- */

static Expr no_number(const Expr &a) {
    const Expr size = bitwise(Call::bitwise_and, bits(a), 0x7fffffff);
    return GT::make(size, spread(UIntImm::make(UInt(32), 0x7f800000), a.type().lanes()));
}

/* A whole number that orders reals which are no NaNs; of both zeros 0. */
static Expr order_of(const Expr &a) {
    const int lanes = a.type().lanes();
    const Expr x = bits(a), minus = Sub::make(spread(UIntImm::make(UInt(32), 0x80000000), lanes), x);
    return Select::make(LT::make(whole(x), spread(number(0), lanes)), whole(minus), whole(x));
}

static Expr compared(const std::string &op, const Expr &a, const Expr &b) {
    const Expr x = order_of(a), y = order_of(b), none = Or::make(no_number(a), no_number(b));
    if (op == "FNE") return Or::make(none, NE::make(x, y));
    return And::make(Not::make(none), op == "FLT"   ? LT::make(x, y)
                                      : op == "FLE" ? LE::make(x, y)
                                                    : EQ::make(x, y));
}

/* One call for each lane. */
Expr by_lane(const std::vector<Expr> &a, const std::string &name) {
    const int lanes = a.at(0).type().lanes();
    std::vector<Expr> all;
    for (int lane = 0; lane < lanes; lane++) {
        std::vector<Expr> one;
        for (const Expr &x : a) one.push_back(lanes > 1 ? Shuffle::make_extract_element(x, lane) : x);
        all.push_back(Call::make(Float(32), "cuda_" + name, one, Call::PureExtern));
    }
    return lanes > 1 ? Shuffle::make_concat(all) : all[0];
}

/* The same bits, which nobody knows to be the same: of a result and of an operand, in two ways, for one
 * would undo itself. */
Expr Steps::result(const Expr &a) const {
    return real(bitwise(Call::bitwise_xor, bits(strict(a)), spread(zero, lanes)));
}
Expr Steps::operand(const Expr &a) const {
    return real(Add::make(bits(a), spread(zero, lanes)));
}

Expr Steps::alone(const std::string &op, const std::vector<Expr> &a) const {
    if (op == "FLT" || op == "FLE" || op == "FEQ" || op == "FNE") return compared(op, a[0], a[1]);
    if (op == "FADD" || op == "FSUB" || op == "FMUL" || op == "FDIV")
        return result(operation(op, a[0], operand(a[1]), a[2]));
    if (op == "SQRT") return result(operation(op, a[0], a[1], a[2]));
    /* Those of Halide flush subnormal numbers to zero. */
    for (const auto &row : {std::make_pair("FLOOR", "floorf"), std::make_pair("CEIL", "ceilf"),
                            std::make_pair("RINT", "rintf")})
        if (op == row.first) return by_lane({a[0]}, row.second);
    return operation(op, a[0], a[1], a[2]);
}

/* ---- lines ------------------------------------------------------------------------------------------- */

bool Steps::line(const std::string &word, std::istream &in) {
    uint32_t reg, k;
    std::string how;
    if (word == "const") {
        in >> reg >> how >> k;
        const Expr x = spread(UIntImm::make(UInt(32), k), lanes);
        define(reg, how == "f32" ? real(x) : x);
    } else if (word == "op") {
        in >> how >> reg;
        std::vector<Expr> a = operands(in);
        a.resize(3, a.at(0));
        define(reg, zero.defined() ? alone(how, a) : operation(how, a[0], a[1], a[2]));
    } else {
        return false;
    }
    return true;
}

Stmt Steps::statement() const {
    Stmt body = Block::make(stores);
    for (auto d = definitions.rbegin(); d != definitions.rend(); ++d)
        body = LetStmt::make(d->first, d->second, body);
    return body;
}

} // namespace ebb
