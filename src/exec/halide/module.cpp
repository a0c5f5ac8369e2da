/* halide/module.cpp: the module libebb_halide.so, on Halide 14: the lines of cpu/emit_in_halide.c become
 * Halide's statements, and those an object file. What a schedule would make of a function is written out
 * here, loops and vectors, and no pass of Halide's own runs, which would take floats for real numbers: it
 * is its code generator that is used, each operation of which is told to be strict. */
#include "exec/code_module.h"

#include "ebb_build.h"
#include "halide_hash.h"

#include <Halide.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace Halide;
using namespace Halide::Internal;

/* ---- expressions ------------------------------------------------------------------------------------- */

Expr number(int32_t x) {
    return IntImm::make(Int(32), x);
}

/* In as many lanes as another has. */
Expr spread(const Expr &x, int lanes) {
    return lanes > 1 ? Broadcast::make(x, lanes) : x;
}

Expr of(Type type, const Expr &a) {
    return Cast::make(type.with_lanes(a.type().lanes()), a);
}

Expr whole(const Expr &a) {
    return of(Int(32), a);
}

Expr as(Type type, const Expr &a) {
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

Expr bitwise(Call::IntrinsicOp op, const Expr &a, uint32_t mask) {
    return bitwise(op, a, spread(UIntImm::make(UInt(32), mask), a.type().lanes()));
}

Expr called(const char *name, const Expr &a) {
    return Call::make(a.type(), name, {a}, Call::PureExtern);
}

/* Without it a comparison or a choice would take for granted that there are no NaNs. */
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

/* ---- statements -------------------------------------------------------------------------------------- */

/* All memory has one name, so that results may lie on operands; the tables of pointers have their own. */
const char memory[] = "memory";

Expr load(Type type, const char *name, const Expr &index) {
    return Load::make(type.with_lanes(index.type().lanes()), name, index, Buffer<>(), Parameter(),
                      const_true(index.type().lanes()), ModulusRemainder());
}

Expr pointer(const char *table, int k) {
    return load(Handle(), table, number(k));
}

std::string name_of(uint32_t reg) {
    return "r" + std::to_string(reg);
}

/* A loop: its elements begin where those of the loop before it end. */
class Loop {
  public:
    Loop(int lanes, const Expr &begin) : lanes(lanes) {
        const Expr n = Variable::make(Int(32), "n");
        const Expr rest = Sub::make(n, begin);
        turns = Div::make(rest, number(lanes));
        next = Add::make(begin, Mul::make(turns, number(lanes)));
        name = "turn" + std::to_string(lanes);
        const Expr turn = Variable::make(Int(32), name);
        const Expr first = Add::make(begin, Mul::make(turn, number(lanes)));
        index = lanes > 1 ? Ramp::make(first, number(1), lanes) : first;
    }

    void line(const std::string &word, std::istream &in) {
        uint32_t reg, k;
        std::string type, how;
        if (word == "load") {
            in >> reg >> type >> k >> how;
            const Expr element = how == "one" ? spread(load(type_of_word(type), memory, number(0)), lanes)
                                              : load(type_of_word(type), memory, index);
            define(reg, Let::make(memory, pointer("in", static_cast<int>(k)), element));
        } else if (word == "const") {
            in >> reg >> type >> k;
            const Expr x = spread(UIntImm::make(UInt(32), k), lanes);
            define(reg, type == "f32" ? real(x) : x);
        } else if (word == "op") {
            in >> how >> reg;
            std::vector<Expr> a = operands(in);
            a.resize(3, a.at(0));
            define(reg, operation(how, a[0], a[1], a[2]));
        } else if (word == "call") {
            in >> k >> reg >> type;
            call(k, reg, type == "i32", operands(in));
        } else if (word == "store") {
            in >> k >> reg;
            const Stmt store =
                Store::make(memory, value(reg), index, Parameter(), const_true(lanes), ModulusRemainder());
            stores.push_back(LetStmt::make(memory, pointer("out", static_cast<int>(k)), store));
        } else {
            throw std::runtime_error("no line begins with " + word);
        }
    }

    Stmt statement() const {
        Stmt body = Block::make(stores);
        for (auto d = definitions.rbegin(); d != definitions.rend(); ++d)
            body = LetStmt::make(d->first, d->second, body);
        return For::make(name, number(0), turns, ForType::Serial, DeviceAPI::None, body);
    }

    Expr end() const { return next; }

  private:
    int lanes;
    std::string name;
    Expr turns, next, index;
    std::map<uint32_t, Type> types;
    std::vector<std::pair<std::string, Expr>> definitions;
    std::vector<Stmt> stores;

    void define(uint32_t reg, const Expr &x) {
        types[reg] = x.type();
        definitions.emplace_back(name_of(reg), strict(x));
    }

    Expr value(uint32_t reg) const { return Variable::make(types.at(reg), name_of(reg)); }

    std::vector<Expr> operands(std::istream &in) const {
        std::vector<Expr> all;
        for (uint32_t reg; in >> reg;) all.push_back(value(reg));
        return all;
    }

    void call(uint32_t function, uint32_t reg, bool is_whole, std::vector<Expr> a) {
        if (is_whole)
            for (Expr &x : a) x = whole(x);
        const Expr result =
            Call::make(a.at(0).type(), "ebb_call_" + std::to_string(function), a, Call::PureExtern);
        define(reg, is_whole ? of(UInt(32), strict(result)) : result);
    }
};

/* ---- a function -------------------------------------------------------------------------------------- */

/* void name(const void *const *in, void *const *out, int64_t n, const void *call), as cpu_fused_code. */
LoweredFunc function_of(const std::string &name, Stmt body) {
    const std::pair<const char *, Type> all[] = {
        {"in", Handle()}, {"out", Handle()}, {"count", Int(64)}, {"call", Handle()}};
    std::vector<LoweredArgument> arguments;
    for (const auto &a : all)
        arguments.emplace_back(a.first, Argument::InputScalar, a.second, 0, ArgumentEstimates{});
    body = LetStmt::make("n", whole(Variable::make(Int(64), "count")), body);
    return LoweredFunc(name, arguments, body, LinkageType::External, NameMangling::C);
}

/* Halide asks the processor alone; here the system, too, which may keep wide registers off. And it takes
 * AMD's Zen 4 for a Sapphire Rapids, whose compiler writes instructions on halves that only the latter has.
 */
Target host() {
    Target target = get_host_target();
    const bool avx = __builtin_cpu_supports("avx"), wide = __builtin_cpu_supports("avx512f");
    for (Target::Feature f : {Target::AVX, Target::AVX2, Target::FMA, Target::F16C})
        if (!avx) target = target.without_feature(f);
    for (Target::Feature f : {Target::AVX512, Target::AVX512_KNL, Target::AVX512_Skylake,
                              Target::AVX512_Cannonlake, Target::AVX512_SapphireRapids})
        if (!avx || !wide) target = target.without_feature(f);
    return __builtin_cpu_supports("avx512fp16") ? target
                                                : target.without_feature(Target::AVX512_SapphireRapids);
}

Buffer<uint8_t> compiled(const std::string &text) {
    std::istringstream lines(text);
    std::string function, line, word;
    std::vector<Loop> loops;
    std::getline(lines, function);
    while (std::getline(lines, line)) {
        std::istringstream in(line);
        in >> word;
        if (word == "loop") {
            int lanes = 0;
            in >> lanes;
            loops.emplace_back(lanes, loops.empty() ? number(0) : loops.back().end());
        } else if (!loops.empty()) {
            loops.back().line(word, in);
        } else {
            throw std::runtime_error("a line before the first loop begins with " + word);
        }
    }
    std::vector<Stmt> statements;
    for (const Loop &loop : loops) statements.push_back(loop.statement());
    /* Large: the loader may lay constants far from the code. */
    Target target = host();
    target.set_features({Target::NoRuntime, Target::NoAsserts, Target::NoBoundsQuery, Target::StrictFloat,
                         Target::LLVMLargeCodeModel});
    Module module(function, target);
    module.append(function_of(function, Block::make(statements)));
    module.set_any_strict_float(true);
    return module.compile_to_buffer();
}

char *make(const char *text, size_t n, size_t *made, char why[EBB_CODE_WHY]) {
    try {
        const Buffer<uint8_t> object = compiled(std::string(text, n));
        *made = object.size_in_bytes();
        char *bytes = static_cast<char *>(std::malloc(*made));
        if (bytes)
            std::memcpy(bytes, object.data(), *made);
        else
            std::strcpy(why, "no memory");
        return bytes;
    } catch (const std::exception &e) {
        const size_t length = std::min<size_t>(std::strcspn(e.what(), "\n"), EBB_CODE_WHY - 1);
        std::memcpy(why, e.what(), length);
        why[length] = '\0';
        return nullptr;
    } catch (...) {
        std::strcpy(why, "it does not say why");
        return nullptr;
    }
}

void release(char *code) {
    std::free(code);
}

} // namespace

extern "C" const ebb_code_module ebb_code_module_face = {sizeof(ebb_code_module),
                                                         EBB_VERSION,
                                                         "HALIDE",
                                                         "Halide 14",
                                                         EBB_CODE_HASH,
                                                         14,
                                                         true,
                                                         make,
                                                         nullptr,
                                                         release};
