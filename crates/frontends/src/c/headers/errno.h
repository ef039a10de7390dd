#pragma once
static _Thread_local int __fencepost_errno;
#define errno __fencepost_errno
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define EAGAIN 11
#define EWOULDBLOCK 11
#define ENOMEM 12
#define EBUSY 16
#define EEXIST 17
#define EINVAL 22
#define ERANGE 34
#define EDEADLK 35
#define ETIMEDOUT 110
