// Two-dimensional arrays: as variables, as parameters, in structures, and through pointers to rows.
// Source: written for this corpus.
// Expected: verified.

#include <assert.h>
#include <stddef.h>

#define N 3

static int identity[N][N] = { { 1 }, { 0, 1 }, { 0, 0, 1 } };
static const char names[2][4] = { "abc", "de" };

struct board {
	unsigned char cell[2][N];
};

static void multiply(int result[N][N], int a[][N], int (*b)[N])
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			result[i][j] = 0;
			for (int k = 0; k < N; k++)
				result[i][j] += a[i][k] * b[k][j];
		}
}

static int row_sum(const int *row, size_t n)
{
	int sum = 0;

	while (n-- > 0)
		sum += *row++;
	return sum;
}

int main(void)
{
	int a[N][N], b[N][N];
	struct board board = { 0 };
	int (*row)[N];
	int trace = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i * N + j;
	multiply(b, a, identity);
	for (row = b; row < b + N; row++)
		assert(row_sum(*row, N) == row_sum(a[row - b], N));
	for (int i = 0; i < N; i++)
		trace += (*(b + i))[i];
	assert(trace == 12);

	board.cell[1][2] = 7;
	assert(*(&board.cell[0][0] + 3 + 2) == 7);
	assert(sizeof(board) == 6 && sizeof(a) == 36 && sizeof(*row) == 12);
	assert(names[1][1] == 'e' && names[1][3] == '\0');
	return 0;
}
