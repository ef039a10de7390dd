/* No include guard: `assert` depends on NDEBUG at each #include. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) __fencepost_assert(!!(condition), #condition)
#endif
#define static_assert _Static_assert
