// The average of an empty list.
// Source: the usual error.
// Expected: violated (division by zero) under every model.

static int average(const int *values, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

int main(void)
{
	int values[3] = { 1, 2, 3 };
	int total = 0;

	for (int n = 3; n >= 0; n--)
		total += average(values, n);
	return total == 0;
}
