/* strata.hpp: ranges for C++11 and later whose names are known only at run time.
 *
 *     strata::scope here("layer " + std::to_string(i));       until the end of the block
 *     strata::scope here("io", "read " + path);               with a category, as strata_begin_in
 *
 * For a fixed text, STRATA_SCOPE("decode") of strata.h looks it up once and is faster. Off, a scope
 * made from a literal is one load and one branch; a string that is put together costs what putting
 * it together costs, so ask strata_on() first in hot places. Every different text is kept: use a
 * small set of names. */
#ifndef STRATA_STRATA_HPP
#define STRATA_STRATA_HPP

#include <string>

#include <strata/strata.h>

#if __cplusplus >= 202002L /* `strata::scope("x");` would end at once: the compiler says so */
#define STRATA_KEEP_ [[nodiscard]]
#else
#define STRATA_KEEP_
#endif

namespace strata
{

/* A range on this thread from its construction until it is destroyed, by an exception too. It stays
 * where it was made: ranges of a thread nest. */
class scope
{
  public:
#ifdef STRATA_DISABLE
    STRATA_KEEP_ explicit scope(const char *) noexcept
    {
    }
    STRATA_KEEP_ explicit scope(const std::string &) noexcept
    {
    }
    STRATA_KEEP_ scope(const char *, const char *) noexcept
    {
    }
    STRATA_KEEP_ scope(const std::string &, const std::string &) noexcept
    {
    }
    ~scope()
    {
    }
#else
    STRATA_KEEP_ explicit scope(const char *name) noexcept : scope(nullptr, name)
    {
    }
    STRATA_KEEP_ explicit scope(const std::string &name) noexcept : scope(nullptr, name.c_str())
    {
    }
    STRATA_KEEP_ scope(const std::string &category, const std::string &name) noexcept
        : scope(category.c_str(), name.c_str())
    {
    }
    STRATA_KEEP_ scope(const char *category, const char *name) noexcept : begun_(strata_on() != 0)
    {
        if (begun_) strata_begin_(category, name);
    }
    ~scope()
    {
        if (begun_) strata_end();
    }
#endif
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

#ifndef STRATA_DISABLE
  private:
    bool begun_;
#endif
};

} // namespace strata

#undef STRATA_KEEP_

#endif
