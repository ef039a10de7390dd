#pragma once
/* The checker of types knows _mm_mfence, _mm_sfence, _mm_lfence and _mm_pause. */
