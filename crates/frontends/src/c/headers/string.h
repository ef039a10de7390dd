#pragma once
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
static inline int memcmp(const void *left, const void *right, size_t size) {
	const unsigned char *a = left, *b = right;
	for (; size; size--, a++, b++)
		if (*a != *b)
			return *a < *b ? -1 : 1;
	return 0;
}
static inline size_t strlen(const char *text) {
	size_t length = 0;
	while (text[length])
		length++;
	return length;
}
static inline int strcmp(const char *left, const char *right) {
	while (*left && *left == *right) {
		left++;
		right++;
	}
	return (unsigned char)*left - (unsigned char)*right;
}
static inline int strncmp(const char *left, const char *right, size_t size) {
	for (; size && *left && *left == *right; size--) {
		left++;
		right++;
	}
	return size ? (unsigned char)*left - (unsigned char)*right : 0;
}
static inline char *strcpy(char *to, const char *from) {
	char *target = to;
	while ((*target++ = *from++))
		;
	return to;
}
static inline char *strchr(const char *text, int character) {
	for (;; text++) {
		if (*text == (char)character)
			return (char *)text;
		if (!*text)
			return 0;
	}
}
