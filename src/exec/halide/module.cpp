/* halide/module.cpp: what the module libebb_halide.so shows, on Halide 14: the lines of
 * cpu/emit/in_halide.c become Halide's statements, and those an object file. What a schedule would make of
 * a function is written out here, loops and vectors, and no pass of Halide's own runs, which would take
 * floats for real numbers: it is its code generator that is used, each operation of which is told to be
 * strict. */
#include "exec/halide/steps.h"

#include "ebb_build.h"
#include "halide_hash.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>

namespace {

using namespace ebb;

/* ---- statements -------------------------------------------------------------------------------------- */

/* The tables of pointers have names of their own. */
Expr pointer(const char *table, int k) {
    return load(Handle(), table, number(k), ModulusRemainder());
}

/* A loop: its elements begin where those of the loop before it end. */
class Loop {
  public:
    Loop(int lanes, const Expr &begin) : steps(lanes) {
        const Expr n = Variable::make(Int(32), "n");
        const Expr rest = Sub::make(n, begin);
        turns = Div::make(rest, number(lanes));
        next = Add::make(begin, Mul::make(turns, number(lanes)));
        name = "turn" + std::to_string(lanes);
        const Expr turn = Variable::make(Int(32), name);
        const Expr first = Add::make(begin, Mul::make(turn, number(lanes)));
        begins = first;
        index = lanes > 1 ? Ramp::make(first, number(1), lanes) : first;
    }

    void line(const std::string &word, std::istream &in) {
        uint32_t reg, k;
        std::string type, how;
        if (steps.line(word, in)) return;
        if (word == "load") {
            in >> reg >> type >> k >> how;
            const Expr element = how == "one"
                                     ? spread(load(type_of_word(type), memory, number(0), {}), steps.lanes)
                                     : load(type_of_word(type), memory, index, {});
            steps.define(reg, Let::make(memory, pointer("in", static_cast<int>(k)), element));
        } else if (word == "call") {
            in >> k >> reg >> type;
            call(k, reg, type == "i32", steps.operands(in));
        } else if (word == "store") {
            in >> k >> reg;
            const Stmt store = Store::make(memory, steps.value(reg), index, Parameter(),
                                           const_true(steps.lanes), ModulusRemainder());
            steps.stores.push_back(LetStmt::make(memory, pointer("out", static_cast<int>(k)), store));
        } else if (word == "ahead") {
            std::string table;
            in >> table >> k >> type >> reg;
            const Expr element = Add::make(begins, number(static_cast<int>(reg)));
            const std::vector<Expr> line = {Variable::make(Handle(), memory), element, number(1),
                                            number(1)};
            const Expr ask = Call::make(type_of_word(type), Call::prefetch, line, Call::Intrinsic);
            steps.stores.push_back(
                LetStmt::make(memory, pointer(table.c_str(), static_cast<int>(k)), Evaluate::make(ask)));
        } else {
            throw std::runtime_error("no line begins with " + word);
        }
    }

    Stmt statement() const {
        return For::make(name, number(0), turns, ForType::Serial, DeviceAPI::None, steps.statement());
    }

    Expr end() const { return next; }

  private:
    Steps steps;
    std::string name;
    Expr turns, next, begins, index;

    void call(uint32_t function, uint32_t reg, bool is_whole, std::vector<Expr> a) {
        if (is_whole)
            for (Expr &x : a) x = whole(x);
        const Expr result =
            Call::make(a.at(0).type(), "ebb_call_" + std::to_string(function), a, Call::PureExtern);
        steps.define(reg, is_whole ? of(UInt(32), strict(result)) : result);
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

/* What is thrown, as one line. */
template <typename Make> char *caught(Make make, char why[EBB_CODE_WHY]) {
    try {
        return make();
    } catch (const std::exception &e) {
        const size_t length = std::min<size_t>(std::strcspn(e.what(), "\n"), EBB_CODE_WHY - 1);
        std::memcpy(why, e.what(), length);
        why[length] = '\0';
    } catch (...) {
        std::strcpy(why, "it does not say why");
    }
    return nullptr;
}

/* Its own copy, and a 0 behind it. */
char *copied(const void *at, size_t n, size_t *made) {
    char *bytes = static_cast<char *>(std::malloc(n + 1));
    if (!bytes) throw std::bad_alloc();
    std::memcpy(bytes, at, n);
    bytes[n] = '\0';
    *made = n;
    return bytes;
}

char *make(const char *text, size_t n, size_t *made, char why[EBB_CODE_WHY]) {
    return caught(
        [=] {
            const Buffer<uint8_t> object = compiled(std::string(text, n));
            return copied(object.data(), object.size_in_bytes(), made);
        },
        why);
}

char *make_ptx(const char *text, size_t n, const ebb_code_gpu *gpu, size_t *made, char why[EBB_CODE_WHY]) {
    return caught(
        [=] {
            const std::string code = ptx(std::string(text, n), *gpu);
            return copied(code.data(), code.size(), made);
        },
        why);
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
                                                         make_ptx,
                                                         release};
