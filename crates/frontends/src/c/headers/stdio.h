#pragma once
#include <stddef.h>
#include <stdarg.h>
/* Output has no effect. */
typedef struct __fencepost_file { int __unused; } FILE;
#define stdin ((FILE *)0)
#define stdout ((FILE *)0)
#define stderr ((FILE *)0)
#define EOF (-1)
#define BUFSIZ 1024
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *text, const char *format, ...);
int snprintf(char *text, size_t size, const char *format, ...);
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *file, const char *format, va_list arguments);
int puts(const char *text);
int putchar(int character);
int fputs(const char *text, FILE *file);
int fputc(int character, FILE *file);
int fflush(FILE *file);
void perror(const char *text);
