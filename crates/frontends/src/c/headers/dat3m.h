#pragma once
/* Names of Dartagnan that are not functions. */
#define await_while(condition) while (condition)
