/* halide/steps.h: the parts of the module libebb_halide.so. Private to it.
 *
 *     lines --module.cpp--> a function for this machine ---> an object file
 *           \---ptx.cpp---> a kernel for a GPU ---> PTX
 *
 * Both write Halide's statements by steps.cpp. */
#ifndef EBB_EXEC_HALIDE_STEPS_H
#define EBB_EXEC_HALIDE_STEPS_H

#include "exec/code_module.h"

#include <Halide.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb {

using namespace Halide;
using namespace Halide::Internal;

/* All memory has one name, so that results may lie on operands. */
extern const char memory[];

Expr number(int32_t x);
/* In as many lanes as another has. */
Expr spread(const Expr &x, int lanes);
Expr of(Type type, const Expr &a);
Expr whole(const Expr &a); /* as Int(32) */
Expr bits(const Expr &a);  /* of a real, as UInt(32) */
Expr real(const Expr &a);  /* of bits */
Expr bitwise(Call::IntrinsicOp op, const Expr &a, const Expr &b);
/* Without it a comparison or a choice would take for granted that there are no NaNs. */
Expr strict(const Expr &a);
/* Of exec/emit/ops.def, by its name. Those that say they are of one name more throw. */
Expr operation(const std::string &name, const Expr &a, const Expr &b, const Expr &c);
Type type_of_word(const std::string &word);
Expr load(Type type, const char *name, const Expr &index, const ModulusRemainder &alignment);

/* CUDA's function of one real or two, which a GPU's code calls as "cuda_<name>" (cuda/functions.cu). */
Expr by_lane(const std::vector<Expr> &a, const std::string &name);

/* Registers: what lines define, in their order, and what is stored. */
class Steps {
  public:
    explicit Steps(int lanes) : lanes(lanes) {}
    /* "const", "op": true; any other line: false, nothing was read. */
    bool line(const std::string &word, std::istream &in);
    void define(uint32_t reg, const Expr &x);
    Expr value(uint32_t reg) const;
    std::vector<Expr> operands(std::istream &in) const;
    /* What was defined, around what was stored. */
    Stmt statement() const;

    const int lanes;
    std::vector<Stmt> stores;
    Expr zero; /* where it is defined: a 0 that nobody knows, so that reals are bits alone (ptx.cpp) */

  private:
    Expr result(const Expr &a) const;
    Expr operand(const Expr &a) const;
    /* An operation of which no property of reals is used. */
    Expr alone(const std::string &op, const std::vector<Expr> &a) const;

    std::map<uint32_t, Type> types;
    std::vector<std::pair<std::string, Expr>> definitions;
};

/* As ebb_code_module.ptx. */
std::string ptx(const std::string &text, const ebb_code_gpu &gpu);

} // namespace ebb

#endif
