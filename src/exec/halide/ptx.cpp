/* halide/ptx.cpp: PTX of the lines of cuda/halide_text.c, by Halide's code generator for CUDA, and nothing
 * of its runtime. Two things of that generator are undone:
 *
 *   - It lets LLVM contract and regroup reals, and think that none is a NaN, whatever a statement says of
 *     being strict. So bits of reals are changed by an argument that is 0, which LLVM cannot know: between
 *     any two operations there is one that is none on reals; and reals are compared as whole numbers. What
 *     CUDA's assembler would contract has its rounding written to it.
 *   - A kernel of its takes each argument by itself. Here all are members of one struct, so where the text
 *     of the kernel reads an argument it is made to read the member. */
#include "exec/halide/steps.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace ebb {

namespace {

const char kernel[] = "cuda_fused", block_name[] = "f.__block_id_x", thread_name[] = "f.__thread_id_x";
enum { THREADS = 256, SIDE = 4 }; /* cuda/kernels/fused.h */

Expr wide(const Expr &x) {
    return of(Int(64), x);
}
Expr long_number(int64_t x) {
    return IntImm::make(Int(64), x);
}

/* ---- the argument ------------------------------------------------------------------------------------ */

/* Members that are read, each an argument to Halide. */
class Members {
  public:
    Expr at(Type type, size_t offset) {
        const std::string name = "m" + std::to_string(offset);
        if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) {
            offsets.push_back(offset);
            arguments.emplace_back(name, false, MemoryType::Auto, type, 0);
        }
        return Variable::make(type, name);
    }

    std::vector<size_t> offsets;
    std::vector<DeviceArgument> arguments;
};

/* How an operand is found (cuda/kernels/fused.h, cuda_fused_at). */
struct Walk {
    int n_dims;
    size_t size, stride;
    bool wide_places;
};

/* ---- what a thread does ------------------------------------------------------------------------------ */

class Kernel {
  public:
    explicit Kernel(const std::string &text) {
        std::istringstream lines(text);
        std::string line;
        while (std::getline(lines, line)) {
            std::istringstream in(line);
            std::string word;
            in >> word;
            read(word, in);
        }
        if (parts.size() != 2 || parts[0].lanes != SIDE || parts[1].lanes != 1)
            throw std::runtime_error("a kernel is of 4 elements and of one");
    }

    Stmt statement() {
        const Expr begin = begin_of(), left = Sub::make(members.at(Int(64), count), begin);
        const Expr all = GE::make(left, long_number(SIDE));
        const Expr none = LT::make(left, long_number(0));
        const Expr some = whole(Select::make(none, long_number(0), left));
        const Stmt rest =
            For::make("k", number(0), some, ForType::Serial, DeviceAPI::None, parts[1].statement());
        Stmt body = IfThenElse::make(all, parts[0].statement(), rest);
        body =
            For::make(thread_name, number(0), number(THREADS), ForType::GPUThread, DeviceAPI::CUDA, body);
        return For::make(block_name, number(0), number(1), ForType::GPUBlock, DeviceAPI::CUDA, body);
    }

    Members members;
    size_t bytes = 0; /* of the argument */

  private:
    size_t count = 0, zero = 0;
    std::map<uint32_t, size_t> in_at, out_at;
    std::map<uint32_t, Walk> walks;
    std::vector<Steps> parts;

    static Expr begin_of() {
        const Expr block = Variable::make(Int(32), block_name),
                   thread = Variable::make(Int(32), thread_name);
        const Expr before = Mul::make(wide(block), long_number(THREADS * SIDE));
        return Add::make(before, wide(Mul::make(thread, number(SIDE))));
    }

    /* The element that a lane is of. */
    Expr element(int lane) const {
        const Expr k = parts.back().lanes > 1 ? long_number(lane) : wide(Variable::make(Int(32), "k"));
        return Add::make(begin_of(), k);
    }

    Expr index() const {
        const int lanes = parts.back().lanes;
        return lanes > 1 ? Ramp::make(element(0), long_number(1), lanes) : element(0);
    }

    /* Elements are as many together as they are in a thread, from a multiple of that on. */
    ModulusRemainder alignment() const { return {parts.back().lanes, 0}; }

    void read(const std::string &word, std::istream &in) {
        uint32_t k;
        int lanes;
        if (word == "argument") {
            in >> bytes >> count >> zero;
        } else if (word == "in" || word == "out") {
            in >> k;
            in >> (word == "in" ? in_at[k] : out_at[k]);
        } else if (word == "walk") {
            Walk walk{};
            in >> k >> walk.n_dims >> walk.size >> walk.stride >> walk.wide_places;
            walks[k] = walk;
        } else if (word == "lanes") {
            in >> lanes;
            parts.emplace_back(lanes);
            parts.back().zero = members.at(UInt(32), zero);
        } else if (parts.empty()) {
            throw std::runtime_error("a line before the first lanes begins with " + word);
        } else if (!parts.back().line(word, in)) {
            step(word, in, parts.back());
        }
    }

    void step(const std::string &word, std::istream &in, Steps &steps) {
        uint32_t reg, k;
        size_t offset;
        std::string name;
        if (word == "load") {
            std::string how;
            in >> reg >> name >> k >> how;
            steps.define(reg, Let::make(memory, members.at(Handle(), in_at.at(k)),
                                        loaded(type_of_word(name), k, how)));
        } else if (word == "number") {
            in >> reg >> offset;
            steps.define(reg, spread(members.at(Float(32), offset), steps.lanes));
        } else if (word == "named") {
            in >> name >> reg;
            steps.define(reg, by_lane(steps.operands(in), name));
        } else if (word == "whole") {
            in >> name >> reg;
            const std::vector<Expr> a = steps.operands(in);
            steps.define(reg, of(UInt(32), divided(name == "mod", whole(a.at(0)), whole(a.at(1)))));
        } else if (word == "store") {
            in >> k >> reg;
            steps.stores.push_back(LetStmt::make(memory, members.at(Handle(), out_at.at(k)),
                                                 Store::make(memory, steps.value(reg), index(), Parameter(),
                                                             const_true(steps.lanes), alignment())));
        } else {
            throw std::runtime_error("no line begins with " + word);
        }
    }

    Expr loaded(Type type, uint32_t k, const std::string &how) {
        const int lanes = parts.back().lanes;
        if (how == "one") return spread(load(type, memory, number(0), {}), lanes);
        if (how == "each") return load(type, memory, index(), alignment());
        std::vector<Expr> all;
        for (int lane = 0; lane < lanes; lane++)
            all.push_back(load(type, memory, place(walks.at(k), element(lane)), {}));
        return lanes > 1 ? Shuffle::make_concat(all) : all[0];
    }

    /* Of a place that is not below 0. */
    Expr place(const Walk &walk, const Expr &of_element) {
        const Type type = walk.wide_places ? UInt(64) : UInt(32);
        Expr left = of(type, of_element), at = long_number(0);
        for (int d = walk.n_dims - 1; d > 0; d--) {
            const Expr size = of(type, members.at(Int(64), walk.size + 8 * static_cast<size_t>(d)));
            const Expr next = Call::make(type, Call::div_round_to_zero, {left, size}, Call::PureIntrinsic);
            const Expr k = Sub::make(left, Mul::make(next, size));
            at = Add::make(
                at, Mul::make(wide(k), members.at(Int(64), walk.stride + 8 * static_cast<size_t>(d))));
            left = next;
        }
        return Add::make(at, Mul::make(wide(left), members.at(Int(64), walk.stride)));
    }

    /* As cuda_floor_div_whole and mod_i32 (kernels/pointwise.h, broadcast.def). */
    static Expr divided(bool mod, const Expr &a, const Expr &b) {
        const int lanes = a.type().lanes();
        const auto is = [=](int32_t x) { return spread(number(x), lanes); };
        const auto below = [=](const Expr &x) { return LT::make(x, is(0)); };
        const Expr none = EQ::make(b, is(0)), turns = EQ::make(b, is(-1)), plain = Or::make(none, turns);
        const Expr by = Select::make(plain, is(1), b);
        const Expr q = Call::make(a.type(), Call::div_round_to_zero, {a, by}, Call::PureIntrinsic);
        const Expr left = Sub::make(a, Mul::make(q, by));
        const Expr apart = And::make(NE::make(left, is(0)), NE::make(below(a), below(by)));
        if (mod) return Select::make(plain, is(0), Select::make(apart, Add::make(left, by), left));
        const Expr minus = whole(Sub::make(spread(UIntImm::make(UInt(32), 0), lanes), of(UInt(32), a)));
        const Expr other = Select::make(none, is(0), minus);
        return Select::make(plain, other, Select::make(apart, Sub::make(q, is(1)), q));
    }
};

/* ---- the text ---------------------------------------------------------------------------------------- */

void replace_all(std::string &text, const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

/* One argument, of which those of the text are members. */
void arguments_join(std::string &text, const Members &members, size_t bytes) {
    const std::string entry = std::string(".entry ") + kernel + "(",
                      of_kernel = std::string(kernel) + "_param_";
    const size_t begin = text.find(entry), end = text.find(')', begin);
    if (begin == std::string::npos || end == std::string::npos)
        throw std::runtime_error("it writes no kernel");
    text.replace(begin + entry.size(), end - begin - entry.size(),
                 "\n\t.param .align 8 .b8 " + of_kernel + "0[" + std::to_string(bytes) + "]\n");
    for (size_t k = 0; k < members.offsets.size(); k++)
        replace_all(text, "[" + of_kernel + std::to_string(k) + "]",
                    "[" + of_kernel + "0+" + std::to_string(members.offsets[k]) + "]");
}

Target target_of(int32_t compute) {
    static const std::pair<int32_t, Target::Feature> known[] = {
        {860, Target::CUDACapability86}, {800, Target::CUDACapability80}, {750, Target::CUDACapability75}};
    Target target("x86-64-linux-cuda-strict_float-no_runtime-no_asserts-no_bounds_query");
    for (const auto &row : known) {
        if (compute < row.first) continue;
        target.set_feature(row.second);
        return target;
    }
    throw std::runtime_error("it knows no such GPU");
}

} // namespace

std::string ptx(const std::string &text, const ebb_code_gpu &gpu) {
    Kernel made(text);
    const Stmt statement = made.statement();
    const auto generator = new_CodeGen_PTX_Dev(target_of(gpu.compute));
    generator->init_module();
    generator->add_kernel(statement, kernel, made.members.arguments);
    const std::vector<char> all = generator->compile_to_src();
    std::string out(all.begin(), all.end());
    out.resize(std::strlen(out.c_str()));
    arguments_join(out, made.members, made.bytes);
    for (const char *op : {"add", "sub", "mul"})
        replace_all(out, std::string("\t") + op + ".f32", std::string("\t") + op + ".rn.f32");
    return out;
}

} // namespace ebb
